/* What a forward keeps: per sweep a number a point and two vectors a set, never the rows. */
#include "check.h"
#include "inference.h"

enum { N = 2400, D = 64, SETS = 3 };

static npagg_ctx *ctx;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

static problem *draw(const flavour *kind, int32_t mode)
{
    const int64_t sizes[SETS] = {1000, 400, 1000};
    test_rng rng = {41};
    problem *p = problem_create(&rng, kind->kind, kind->robust, D, kind->k, SETS, sizes, 0);
    p->grad = mode;
    return p;
}

static size_t count_bytes(problem *p, int precision, int32_t sweeps, int with_logz)
{
    npagg_cache *cache = NULL;
    p->max_iters = sweeps;
    inference *f = inference_create(ctx, p, precision);
    inference bare = *f;
    if (!with_logz)
        bare.logz = NULL;
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    ASSERT_OK(ctx, inference_forward(ctx, &bare, cache));
    const size_t bytes = npagg_cache_bytes(cache);
    inference_destroy(f);
    npagg_cache_destroy(cache);
    return bytes;
}

static void test_cache_of_unrolled_rba_grows_by_a_number_a_point_and_two_vectors_a_set(void)
{
    problem *p = draw(&flavours[5], NPAGG_GRAD_UNROLL);
    for (int i = 0; i < 4; i++) {
        const int precision = i % 2 ? 32 : 64, with_logz = i / 2;
        const size_t few = count_bytes(p, precision, 5, with_logz);
        const size_t many = count_bytes(p, precision, 55, with_logz);
        TEST_ASSERT_GREATER_THAN_UINT64(few, many);
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(50u * (N + 2 * SETS * D) * 8 * 5 / 4, many - few);
        TEST_ASSERT_LESS_THAN_UINT64(50u * N * D * sizeof(float) / 8, many - few);
    }
    problem_destroy(p);
}

static void test_cache_of_a_robust_mixture_grows_by_a_number_a_point_and_its_components(void)
{
    problem *p = draw(&flavours[3], NPAGG_GRAD_UNROLL);
    const size_t few = count_bytes(p, 32, 5, 1), many = count_bytes(p, 32, 55, 1);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(50u * (N + SETS * (2 * 3 * D + 2 * D + 3)) * 8 * 5 / 4,
                                     many - few);
    problem_destroy(p);
}

static void test_cache_of_implicit_does_not_grow_with_sweeps(void)
{
    for (int i = 0; i < FLAVOURS; i++) {
        problem *p = draw(&flavours[i], NPAGG_GRAD_IMPLICIT);
        for (int j = 0; j < 4; j++) {
            const int precision = j % 2 ? 32 : 64, with_logz = j / 2;
            TEST_ASSERT_EQUAL_UINT64(count_bytes(p, precision, 5, with_logz),
                                     count_bytes(p, precision, 100, with_logz));
        }
        problem_destroy(p);
    }
}

static void test_cache_of_exact_priors_does_not_hold_the_rows(void)
{
    for (int i = 0; i <= 2; i += 2) {
        problem *p = draw(&flavours[i], NPAGG_GRAD_UNROLL);
        TEST_ASSERT_LESS_THAN_UINT64(N * D * sizeof(float) / 4, count_bytes(p, 32, 5, 1));
        problem_destroy(p);
    }
}

/* Falling back unrolls in scratch; the cache stays what it was. */
static void test_cache_does_not_grow_when_implicit_falls_back(void)
{
    int32_t iters[SETS];
    npagg_cache *cache = NULL;
    problem *p = draw(&flavours[5], NPAGG_GRAD_IMPLICIT);
    problem_leave_fixed_point(p);
    inference *f = inference_create(ctx, p, 64);
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    ASSERT_OK(ctx, inference_forward(ctx, f, cache));
    const size_t before = npagg_cache_bytes(cache);
    ASSERT_OK(ctx, inference_backward(ctx, f, cache));
    ASSERT_OK(ctx, npagg_infer_grad_iters(ctx, cache, iters));
    TEST_ASSERT_TRUE(iters[0] == -1 || iters[1] == -1 || iters[2] == -1);
    TEST_ASSERT_EQUAL_UINT64(before, npagg_cache_bytes(cache));
    npagg_cache_destroy(cache);
    inference_destroy(f);
    problem_destroy(p);
}

static void test_cache_shrinks_and_grows_with_what_is_in_it(void)
{
    const int64_t first[] = {1}, all[] = {0, 1, 2};
    npagg_cache *cache = NULL;
    problem *p = draw(&flavours[5], NPAGG_GRAD_UNROLL);
    inference *whole = inference_create(ctx, p, 32);
    inference *large = inference_pick(whole, 3, all), *small = inference_pick(whole, 1, first);
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    TEST_ASSERT_EQUAL_UINT64(0, npagg_cache_bytes(cache));
    ASSERT_OK(ctx, inference_forward(ctx, large, cache));
    const size_t bytes = npagg_cache_bytes(cache);
    ASSERT_OK(ctx, inference_forward(ctx, small, cache));
    TEST_ASSERT_LESS_THAN_UINT64(bytes / 2, npagg_cache_bytes(cache));
    ASSERT_OK(ctx, inference_forward(ctx, large, cache));
    TEST_ASSERT_EQUAL_UINT64(bytes, npagg_cache_bytes(cache));
    npagg_cache_destroy(cache);
    inference_destroy(large);
    inference_destroy(small);
    inference_destroy(whole);
    problem_destroy(p);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_cache_of_unrolled_rba_grows_by_a_number_a_point_and_two_vectors_a_set);
    RUN_TEST(test_cache_of_a_robust_mixture_grows_by_a_number_a_point_and_its_components);
    RUN_TEST(test_cache_of_implicit_does_not_grow_with_sweeps);
    RUN_TEST(test_cache_of_exact_priors_does_not_hold_the_rows);
    RUN_TEST(test_cache_does_not_grow_when_implicit_falls_back);
    RUN_TEST(test_cache_shrinks_and_grows_with_what_is_in_it);
    return UNITY_END();
}
