/* After the first step a training loop allocates nothing; larger work grows once, smaller never. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "inference.h"
#include "meter.h"

void setUp(void)
{
}

void tearDown(void)
{
}

/* One kind of inference on one context, at several sizes. */
typedef struct {
    meter meter;
    npagg_ctx *ctx;
    npagg_cache *cache;
    const flavour *kind;
    int32_t mode;
    int precision;
} loop;

static void loop_begin(loop *l, const flavour *kind, int32_t mode, int precision, int32_t threads)
{
    l->kind = kind;
    l->mode = mode;
    l->precision = precision;
    meter_init(&l->meter);
    l->ctx = meter_ctx(&l->meter);
    ASSERT_OK(l->ctx, npagg_ctx_set_threads(l->ctx, threads));
    ASSERT_OK(l->ctx, npagg_cache_create(l->ctx, &l->cache));
}

static void loop_end(loop *l)
{
    npagg_cache_destroy(l->cache);
    npagg_ctx_destroy(l->ctx);
    ASSERT_BALANCED(&l->meter);
}

/* Sets of n, 0 and 2 n points with fresh numbers. */
static inference *draw(loop *l, uint64_t seed, int64_t n, int64_t d, int32_t sweeps)
{
    const int64_t sizes[] = {n, 0, 2 * n};
    test_rng rng = {seed};
    problem *p = problem_create(&rng, l->kind->kind, l->kind->robust, d, l->kind->k, 3, sizes, 1);
    p->max_iters = sweeps;
    p->grad = l->mode;
    inference *f = inference_create(l->ctx, p, l->precision);
    problem_destroy(p);
    return f;
}

/* Allocator calls of one forward and backward. */
static int64_t count_calls(loop *l, uint64_t seed, int64_t n, int64_t d, int32_t sweeps)
{
    inference *f = draw(l, seed, n, d, sweeps);
    const int64_t before = l->meter.calls;
    inference_run(l->ctx, f, l->cache);
    const int64_t calls = l->meter.calls - before;
    inference_destroy(f);
    return calls;
}

static void train(const flavour *kind, int32_t mode, int precision, int32_t threads)
{
    loop l;
    loop_begin(&l, kind, mode, precision, threads);
    TEST_ASSERT_GREATER_THAN_INT64(0, count_calls(&l, 1, 30, 7, 5));
    for (uint64_t step = 2; step < 6; step++)
        TEST_ASSERT_EQUAL_INT64_MESSAGE(0, count_calls(&l, step, 30, 7, 5), kind->name);
    loop_end(&l);
}

static void test_infer_allocates_nothing_after_the_first_step(void)
{
    for (int i = 0; i < FLAVOURS; i++)
        for (int32_t mode = 0; mode < GRAD_MODES; mode++)
            for (int32_t threads = 1; threads <= 2; threads++) {
                train(&flavours[i], mode, 32, threads);
                train(&flavours[i], mode, 64, threads);
            }
}

static void test_infer_of_less_than_before_allocates_nothing(void)
{
    for (int i = 0; i < FLAVOURS; i++)
        for (int32_t mode = 0; mode < GRAD_MODES; mode++) {
            loop l;
            loop_begin(&l, &flavours[i], mode, 64, 2);
            count_calls(&l, 1, 30, 7, 5);
            TEST_ASSERT_EQUAL_INT64(0, count_calls(&l, 2, 10, 7, 5));
            TEST_ASSERT_EQUAL_INT64(0, count_calls(&l, 3, 0, 7, 5));
            TEST_ASSERT_EQUAL_INT64(0, count_calls(&l, 4, 30, 2, 5));
            TEST_ASSERT_EQUAL_INT64(0, count_calls(&l, 5, 30, 7, 1));
            TEST_ASSERT_EQUAL_INT64(0, count_calls(&l, 6, 30, 7, 5));
            loop_end(&l);
        }
}

/* A set of 30000 points is cut into chunks, and all threads work on one of 60000. */
static void test_infer_of_large_sets_allocates_nothing_after_the_first_step(void)
{
    for (int32_t threads = 1; threads <= 3; threads++) {
        loop l;
        loop_begin(&l, &flavours[5], NPAGG_GRAD_UNROLL, 32, threads);
        count_calls(&l, 1, 30000, 2, 3);
        TEST_ASSERT_EQUAL_INT64(0, count_calls(&l, 2, 30000, 2, 3));
        TEST_ASSERT_EQUAL_INT64(0, count_calls(&l, 3, 29999, 2, 3));
        TEST_ASSERT_EQUAL_INT64(0, count_calls(&l, 4, 100, 2, 3));
        loop_end(&l);
    }
}

static void test_infer_of_more_than_before_grows_once(void)
{
    for (int i = 0; i < FLAVOURS; i++) {
        loop l;
        loop_begin(&l, &flavours[i], NPAGG_GRAD_UNROLL, 32, 1);
        count_calls(&l, 1, 30, 7, 5);
        TEST_ASSERT_GREATER_THAN_INT64(0, count_calls(&l, 2, 3000, 33, 5));
        TEST_ASSERT_EQUAL_INT64(0, count_calls(&l, 3, 3000, 33, 5));
        TEST_ASSERT_EQUAL_INT64(0, count_calls(&l, 4, 30, 7, 5));
        loop_end(&l);
    }
}

/* Memory that was used before, for something else, leaves no trace in the results. */
static void test_infer_on_used_memory_gives_the_bits_of_new_memory(void)
{
    for (int i = 0; i < 3 * FLAVOURS; i++) {
        loop used, fresh;
        loop_begin(&used, &flavours[i / 3], i % 3, 32, 1);
        loop_begin(&fresh, &flavours[i / 3], i % 3, 32, 1);
        count_calls(&used, 1, 50, 9, 6);
        inference *a = draw(&used, 2, 11, 5, 4), *b = draw(&fresh, 2, 11, 5, 4);
        inference_run(used.ctx, a, used.cache);
        inference_run(fresh.ctx, b, fresh.cache);
        ASSERT_SAME_OUTPUTS(b, a);
        TEST_ASSERT_EQUAL_UINT64(npagg_cache_bytes(fresh.cache), npagg_cache_bytes(used.cache));
        inference_destroy(a);
        inference_destroy(b);
        loop_end(&used);
        loop_end(&fresh);
    }
}

/* Unrolling what implicit could not do needs room for its sweeps: once, when it first happens. */
static void test_infer_falling_back_from_implicit_allocates_only_the_first_time(void)
{
    for (int precision = 32; precision <= 64; precision += 32) {
        loop l;
        loop_begin(&l, &flavours[5], NPAGG_GRAD_IMPLICIT, precision, 2);
        count_calls(&l, 1, 30, 7, 5);
        inference *f = draw(&l, 2, 30, 7, 5);
        inference_put(f, f->dq, 2 * f->q, (double)NAN); /* no adjoint of it converges */
        inference_run(l.ctx, f, l.cache);
        const int64_t before = l.meter.calls;
        inference_run(l.ctx, f, l.cache);
        TEST_ASSERT_EQUAL_INT64(before, l.meter.calls);
        TEST_ASSERT_EQUAL_INT64(0, count_calls(&l, 3, 30, 7, 5));
        inference_destroy(f);
        loop_end(&l);
    }
}

static void test_lookups_allocate_nothing(void)
{
    loop l;
    int32_t iters[3];
    double residual[3], bound[5];
    loop_begin(&l, &flavours[5], NPAGG_GRAD_IMPLICIT, 64, 1);
    inference *f = draw(&l, 1, 4, 3, 5);
    inference_run(l.ctx, f, l.cache);
    const int64_t before = l.meter.calls;
    ASSERT_OK(l.ctx, inference_weights(l.ctx, f, l.cache));
    ASSERT_OK(l.ctx, npagg_infer_iters(l.ctx, l.cache, iters));
    ASSERT_OK(l.ctx, npagg_infer_grad_iters(l.ctx, l.cache, iters));
    ASSERT_OK(l.ctx, npagg_infer_residual(l.ctx, l.cache, residual));
    ASSERT_OK(l.ctx, npagg_infer_trace(l.ctx, l.cache, 2, bound));
    ASSERT_OK(l.ctx, npagg_prior_constrained_f64(l.ctx, f->prior, f->params, f->dparams));
    TEST_ASSERT_EQUAL_INT64(before, l.meter.calls);
    inference_destroy(f);
    loop_end(&l);
}

/* Two loops, say training and validation, keep a cache each on one context. */
static void test_two_caches_of_one_context_do_not_disturb_each_other(void)
{
    loop l;
    npagg_cache *second = NULL;
    loop_begin(&l, &flavours[3], NPAGG_GRAD_UNROLL, 64, 1);
    ASSERT_OK(l.ctx, npagg_cache_create(l.ctx, &second));
    inference *a = draw(&l, 1, 20, 5, 3), *want = draw(&l, 1, 20, 5, 3), *b = draw(&l, 2, 90, 5, 3);
    inference_run_once(l.ctx, want);
    memset(a->out, 0, a->out_bytes);
    ASSERT_OK(l.ctx, inference_forward(l.ctx, a, l.cache));
    inference_run(l.ctx, b, second);
    ASSERT_OK(l.ctx, inference_weights(l.ctx, a, l.cache));
    ASSERT_OK(l.ctx, inference_backward(l.ctx, a, l.cache));
    ASSERT_SAME_OUTPUTS(want, a);
    inference_destroy(a);
    inference_destroy(b);
    inference_destroy(want);
    npagg_cache_destroy(second);
    loop_end(&l);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_allocates_nothing_after_the_first_step);
    RUN_TEST(test_infer_of_less_than_before_allocates_nothing);
    RUN_TEST(test_infer_of_large_sets_allocates_nothing_after_the_first_step);
    RUN_TEST(test_infer_of_more_than_before_grows_once);
    RUN_TEST(test_infer_on_used_memory_gives_the_bits_of_new_memory);
    RUN_TEST(test_infer_falling_back_from_implicit_allocates_only_the_first_time);
    RUN_TEST(test_lookups_allocate_nothing);
    RUN_TEST(test_two_caches_of_one_context_do_not_disturb_each_other);
    return UNITY_END();
}
