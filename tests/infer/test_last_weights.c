/*
 * A forward that leaves out the weights after the last sweep: the same posterior and the same
 * gradients, to the bit, from a smaller cache.
 */
#include "check.h"
#include "inference.h"
#include "meter.h"

/* So many rows that their floats fill what arrays are aligned to: the cache's bytes count them
 * exactly. */
enum { N = 32 };

static meter memory; /* new memory is junk: what was not written cannot be right by chance */
static npagg_ctx *ctx;

void setUp(void)
{
    meter_init(&memory);
    ctx = meter_ctx(&memory);
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
    ASSERT_BALANCED(&memory);
}

static problem *draw(const flavour *kind, int32_t mode, int weighted)
{
    const int64_t sizes[] = {14, 0, 11, 7};
    test_rng rng = {61};
    problem *p = problem_create(&rng, kind->kind, kind->robust, 5, kind->k, 4, sizes, weighted);
    p->grad = mode;
    return p;
}

/* One inference with its cache. */
typedef struct {
    inference *f;
    npagg_cache *cache;
} side;

static side side_create(const problem *p, int precision, int32_t weights)
{
    side s = {inference_create(ctx, p, precision), NULL};
    ASSERT_OK(ctx, npagg_vmp_set_weights(s.f->vmp, weights));
    ASSERT_OK(ctx, npagg_cache_create(ctx, &s.cache));
    return s;
}

/* After a forward and a backward without logz. */
static side side_trained(const problem *p, int precision, int32_t weights)
{
    side s = side_create(p, precision, weights);
    inference bare = *s.f;
    bare.logz = bare.dlogz = NULL;
    ASSERT_OK(ctx, inference_forward(ctx, &bare, s.cache));
    ASSERT_OK(ctx, inference_backward(ctx, &bare, s.cache));
    return s;
}

static void sides_end(side *one, side *other)
{
    npagg_cache_destroy(one->cache);
    npagg_cache_destroy(other->cache);
    inference_destroy(one->f);
    inference_destroy(other->f);
}

static void compare_training(const problem *p, int precision)
{
    side with = side_trained(p, precision, 1), without = side_trained(p, precision, 0);
    ASSERT_SAME_OUTPUTS(with.f, without.f);
    sides_end(&with, &without);
}

typedef void (*case_fn)(const problem *p, int precision);

/* Every prior, gradient mode and precision, with and without row weights, 1, 2 and 5 sweeps. */
static void for_each_case(case_fn fn)
{
    const int32_t sweeps[] = {1, 2, 5};
    for (int i = 0; i < FLAVOURS; i++)
        for (int32_t mode = 0; mode < GRAD_MODES; mode++)
            for (int weighted = 0; weighted < 2; weighted++) {
                problem *p = draw(&flavours[i], mode, weighted);
                for (int j = 0; j < 3; j++) {
                    p->max_iters = sweeps[j];
                    fn(p, 32);
                    fn(p, 64);
                }
                problem_destroy(p);
            }
}

static void test_training_without_weights_gives_the_same_bits(void)
{
    for_each_case(compare_training);
}

static void count_bytes(const problem *p, int precision)
{
    side with = side_trained(p, precision, 1), without = side_trained(p, precision, 0);
    const size_t saved = p->robust ? N * with.f->real : 0;
    TEST_ASSERT_EQUAL_UINT64(npagg_cache_bytes(with.cache),
                             npagg_cache_bytes(without.cache) + saved);
    sides_end(&with, &without);
}

static void test_cache_without_weights_is_smaller_by_a_number_a_point(void)
{
    for_each_case(count_bytes);
}

static void look_up(const problem *p, int precision)
{
    side with = side_trained(p, precision, 1), without = side_trained(p, precision, 0);
    ASSERT_OK(ctx, inference_weights(ctx, with.f, with.cache));
    if (p->robust) {
        ASSERT_FAILS(ctx, NPAGG_E_STATE, "npagg_vmp_set_weights",
                     inference_weights(ctx, without.f, without.cache));
    } else {
        ASSERT_OK(ctx, inference_weights(ctx, without.f, without.cache));
        ASSERT_SAME_OUTPUTS(with.f, without.f);
    }
    sides_end(&with, &without);
}

static void test_weights_of_gaussian_factors_alone_are_there_without_them(void)
{
    for_each_case(look_up);
}

/* Whatever the setting: the bound and its gradient are made of the weights. */
static void compare_with_logz(const problem *p, int precision)
{
    side with = side_create(p, precision, 1), without = side_create(p, precision, 0);
    inference_run(ctx, with.f, with.cache);
    inference_run(ctx, without.f, without.cache);
    ASSERT_SAME_OUTPUTS(with.f, without.f);
    TEST_ASSERT_EQUAL_UINT64(npagg_cache_bytes(with.cache), npagg_cache_bytes(without.cache));
    sides_end(&with, &without);
}

static void test_forward_with_logz_has_the_weights_anyway(void)
{
    for_each_case(compare_with_logz);
}

/* Sets end after different numbers of sweeps, none of them the last that was allowed. */
static void test_sets_that_stop_by_tolerance_do_without_weights(void)
{
    for (int i = 0; i < FLAVOURS; i++)
        for (int32_t mode = 0; mode < GRAD_MODES; mode++) {
            problem *p = draw(&flavours[i], mode, 1);
            p->max_iters = 200;
            p->tol = 1e-3;
            compare_training(p, 32);
            compare_training(p, 64);
            problem_destroy(p);
        }
}

/* Sets between two clusters, whose residual may grow from one sweep to the next. */
static problem *draw_apart(int32_t sweeps)
{
    const int64_t sizes[] = {6, 6, 6, 6};
    test_rng rng = {3};
    problem *p = problem_create(&rng, STUDENT, 1, 3, 1, 4, sizes, 0);
    p->params[2] = -3;
    for (int64_t j = 0; j < p->n * p->d; j++)
        p->m[j] += j / p->d % 6 < 3 ? 4 : -4;
    p->grad = NPAGG_GRAD_IMPLICIT;
    p->max_iters = sweeps;
    return p;
}

/* Sets that took more than two sweeps and were not solved for: they are run forward again. */
static int count_lost(const npagg_cache *cache)
{
    int32_t sweeps[4];
    int lost = 0;
    ASSERT_OK(ctx, npagg_infer_grad_iters(ctx, cache, sweeps));
    for (int b = 0; b < 4; b++)
        lost += sweeps[b] == -1;
    return lost;
}

static void test_implicit_falls_back_without_weights(void)
{
    int lost = 0;
    for (int32_t sweeps = 3; sweeps < 12; sweeps++) {
        problem *p = draw_apart(sweeps);
        side with = side_trained(p, 64, 1), without = side_trained(p, 64, 0);
        ASSERT_SAME_OUTPUTS(with.f, without.f);
        lost += count_lost(without.cache);
        sides_end(&with, &without);
        problem_destroy(p);
    }
    TEST_ASSERT_GREATER_THAN_INT(0, lost);
}

/* So many rows that backward shares the set between threads and computes slopes again. */
static void test_training_of_a_very_large_set_does_without_weights(void)
{
    const int64_t sizes[] = {300000, 3};
    test_rng rng = {63};
    ASSERT_OK(ctx, npagg_ctx_set_threads(ctx, 2));
    for (int32_t mode = 0; mode < GRAD_MODES; mode++) {
        problem *p = problem_create(&rng, STUDENT, 1, 1, 1, 2, sizes, 0);
        p->max_iters = 3;
        p->grad = mode;
        compare_training(p, 32);
        problem_destroy(p);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_training_without_weights_gives_the_same_bits);
    RUN_TEST(test_cache_without_weights_is_smaller_by_a_number_a_point);
    RUN_TEST(test_weights_of_gaussian_factors_alone_are_there_without_them);
    RUN_TEST(test_forward_with_logz_has_the_weights_anyway);
    RUN_TEST(test_sets_that_stop_by_tolerance_do_without_weights);
    RUN_TEST(test_implicit_falls_back_without_weights);
    RUN_TEST(test_training_of_a_very_large_set_does_without_weights);
    return UNITY_END();
}
