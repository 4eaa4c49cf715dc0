/* The same bits on any number of threads, of ours or of the host's. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "inference.h"

void setUp(void)
{
}

void tearDown(void)
{
}

/* Every 4th row masked. */
static problem *draw_sets(const flavour *kind, int32_t mode, int64_t n_sets, const int64_t *sizes)
{
    test_rng rng = {17};
    problem *p = problem_create(&rng, kind->kind, kind->robust, 2, kind->k, n_sets, sizes, 1);
    p->max_iters = 3;
    p->grad = mode;
    return p;
}

/* A set for all threads together and one in eight chunks, among small ones. */
static problem *draw(const flavour *kind, int32_t mode)
{
    const int64_t sizes[] = {70000, 1, 0, 50, 9000, 3};
    return draw_sets(kind, mode, 6, sizes);
}

static npagg_ctx *ctx_on_threads(int32_t threads)
{
    npagg_ctx *ctx = NULL;
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_ctx_set_threads(ctx, threads));
    return ctx;
}

static void compare_threads(const problem *p, int precision)
{
    const int32_t threads[] = {2, 3, 7};
    npagg_ctx *one = ctx_on_threads(1);
    inference *want = inference_create(one, p, precision);
    inference *got = inference_create(one, p, precision);
    inference_run_once(one, want);
    for (int i = 0; i < 3; i++) {
        npagg_ctx *many = ctx_on_threads(threads[i]);
        inference_run_once(many, got);
        ASSERT_SAME_OUTPUTS(want, got);
        npagg_ctx_destroy(many);
    }
    inference_destroy(want);
    inference_destroy(got);
    npagg_ctx_destroy(one);
}

static void compare_flavours(int precision)
{
    for (int i = 0; i < FLAVOURS; i++)
        for (int32_t mode = 0; mode < GRAD_MODES; mode++) {
            problem *p = draw(&flavours[i], mode);
            compare_threads(p, precision);
            problem_destroy(p);
        }
}

static void test_infer_f32_gives_the_same_bits_on_any_number_of_threads(void)
{
    compare_flavours(32);
}

static void test_infer_f64_gives_the_same_bits_on_any_number_of_threads(void)
{
    compare_flavours(64);
}

/* Sets in eight, two and twelve chunks, which all threads work on where there are no others. Rows
 * of the second are kept from sweep to sweep. */
static void test_infer_of_few_sets_gives_the_same_bits_on_any_number_of_threads(void)
{
    const int64_t sizes[] = {9000, 2500, 20000};
    for (int i = 0; i < FLAVOURS; i++)
        for (int32_t mode = 0; mode < GRAD_MODES; mode++) {
            problem *p = draw_sets(&flavours[i], mode, 3, sizes);
            compare_threads(p, 32);
            compare_threads(p, 64);
            problem_destroy(p);
        }
}

static void test_infer_falling_back_from_implicit_gives_the_same_bits_on_threads(void)
{
    problem *p = draw(&flavours[5], NPAGG_GRAD_IMPLICIT);
    problem_leave_fixed_point(p);
    compare_threads(p, 32);
    compare_threads(p, 64);
    problem_destroy(p);
}

/* Sets stop after different numbers of sweeps, so the work left shrinks from sweep to sweep. */
static void test_infer_stopping_by_tolerance_gives_the_same_bits_on_threads(void)
{
    problem *p = draw(&flavours[5], NPAGG_GRAD_UNROLL);
    p->max_iters = 40;
    p->tol = 1e-4;
    compare_threads(p, 32);
    compare_threads(p, 64);
    problem_destroy(p);
}

static void test_infer_without_weights_or_logz_gives_the_same_bits_on_threads(void)
{
    const int64_t sizes[] = {3, 70000, 64, 65};
    test_rng rng = {18};
    for (int i = 0; i < FLAVOURS; i++) {
        problem *p = problem_create(&rng, flavours[i].kind, flavours[i].robust, 1, flavours[i].k, 4,
                                    sizes, 0);
        free(p->dlogz);
        p->dlogz = NULL;
        compare_threads(p, 32);
        problem_destroy(p);
    }
}

/* Sets share their gradient of the parameters, which is added up in tiles; q is handed out set by
 * set. */
static void test_infer_of_many_small_sets_gives_the_same_bits_on_threads(void)
{
    enum { SETS = 100, D = 64, K = 5 };
    int64_t sizes[SETS];
    test_rng rng = {19};
    for (int b = 0; b < SETS; b++)
        sizes[b] = b % 4;
    problem *p = problem_create(&rng, MIXTURE, 0, D, K, SETS, sizes, 0);
    compare_threads(p, 32);
    compare_threads(p, 64);
    problem_destroy(p);
}

/* All rows are more than a core's cache holds, a thread's share of them is less: kernels take rows
 * that may come from memory and rows that are in cache in different ways. */
static void test_infer_gives_the_same_bits_on_threads_whose_rows_stay_in_cache(void)
{
    enum { SETS = 12, D = 133 };
    int64_t sizes[SETS];
    test_rng rng = {20};
    for (int b = 0; b < SETS; b++)
        sizes[b] = 83 + b;
    for (int i = 0; i < FLAVOURS; i++) {
        problem *p = problem_create(&rng, flavours[i].kind, flavours[i].robust, D, flavours[i].k,
                                    SETS, sizes, 0);
        p->max_iters = 3;
        compare_threads(p, 32);
        compare_threads(p, 64);
        free(p->dlogz);
        p->dlogz = NULL;
        compare_threads(p, 32);
        problem_destroy(p);
    }
}

static void test_set_threads_up_and_down_keeps_the_bits(void)
{
    const int32_t threads[] = {2, 1, 7, 3, 256, 1};
    problem *p = draw(&flavours[3], NPAGG_GRAD_UNROLL);
    npagg_ctx *ctx = ctx_on_threads(1);
    inference *want = inference_create(ctx, p, 32), *got = inference_create(ctx, p, 32);
    inference_run_once(ctx, want);
    for (int i = 0; i < 6; i++) {
        ASSERT_OK(ctx, npagg_ctx_set_threads(ctx, threads[i]));
        inference_run_once(ctx, got);
        ASSERT_SAME_OUTPUTS(want, got);
    }
    inference_destroy(want);
    inference_destroy(got);
    npagg_ctx_destroy(ctx);
    problem_destroy(p);
}

enum { HOSTS = 2, ROUNDS = 5 };

/* One host thread's own things; the shapes inside f are shared. */
typedef struct {
    npagg_ctx *ctx;
    npagg_cache *cache;
    inference *f;
    npagg_status status;
} host;

/* No assertion in here: Unity's jumps must not leave their thread. */
static void *run_host(void *arg)
{
    host *h = arg;
    for (int i = 0; i < ROUNDS && h->status == NPAGG_OK; i++) {
        memset(h->f->out, 0, h->f->out_bytes);
        h->status = inference_forward(h->ctx, h->f, h->cache);
        if (h->status == NPAGG_OK)
            h->status = inference_weights(h->ctx, h->f, h->cache);
        if (h->status == NPAGG_OK)
            h->status = inference_backward(h->ctx, h->f, h->cache);
    }
    return NULL;
}

static void run_hosts(const inference *whole, int32_t threads)
{
    const int64_t all[] = {0, 1, 2, 3, 4, 5};
    host hosts[HOSTS] = {0};
    pthread_t running[HOSTS];
    for (int i = 0; i < HOSTS; i++) {
        hosts[i].ctx = ctx_on_threads(threads);
        hosts[i].f = inference_pick(whole, 6, all);
        ASSERT_OK(hosts[i].ctx, npagg_cache_create(hosts[i].ctx, &hosts[i].cache));
    }
    for (int i = 0; i < HOSTS; i++)
        TEST_ASSERT_EQUAL_INT(0, pthread_create(&running[i], NULL, run_host, &hosts[i]));
    for (int i = 0; i < HOSTS; i++)
        pthread_join(running[i], NULL);
    for (int i = 0; i < HOSTS; i++) {
        ASSERT_OK(hosts[i].ctx, hosts[i].status);
        ASSERT_SAME_OUTPUTS(whole, hosts[i].f);
        inference_destroy(hosts[i].f);
        npagg_cache_destroy(hosts[i].cache);
        npagg_ctx_destroy(hosts[i].ctx);
    }
}

static void test_two_host_threads_sharing_prior_and_vmp_get_the_bits_of_one(void)
{
    for (int i = 0; i < FLAVOURS; i++) {
        problem *p = draw(&flavours[i], i % GRAD_MODES);
        npagg_ctx *ctx = ctx_on_threads(1);
        inference *whole = inference_create(ctx, p, i % 2 ? 32 : 64);
        inference_run_once(ctx, whole);
        run_hosts(whole, 1);
        run_hosts(whole, 2);
        inference_destroy(whole);
        npagg_ctx_destroy(ctx);
        problem_destroy(p);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_f32_gives_the_same_bits_on_any_number_of_threads);
    RUN_TEST(test_infer_f64_gives_the_same_bits_on_any_number_of_threads);
    RUN_TEST(test_infer_of_few_sets_gives_the_same_bits_on_any_number_of_threads);
    RUN_TEST(test_infer_falling_back_from_implicit_gives_the_same_bits_on_threads);
    RUN_TEST(test_infer_stopping_by_tolerance_gives_the_same_bits_on_threads);
    RUN_TEST(test_infer_without_weights_or_logz_gives_the_same_bits_on_threads);
    RUN_TEST(test_infer_of_many_small_sets_gives_the_same_bits_on_threads);
    RUN_TEST(test_infer_gives_the_same_bits_on_threads_whose_rows_stay_in_cache);
    RUN_TEST(test_set_threads_up_and_down_keeps_the_bits);
    RUN_TEST(test_two_host_threads_sharing_prior_and_vmp_get_the_bits_of_one);
    return UNITY_END();
}
