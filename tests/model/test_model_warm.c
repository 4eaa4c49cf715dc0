/* After its first step a training loop allocates nothing, and neither does a prediction. */
#include "check.h"
#include "meter.h"
#include "model_call.h"
#include "prediction.h"

void setUp(void)
{
}

void tearDown(void)
{
}

typedef struct {
    meter meter;
    npagg_ctx *ctx;
    npagg_cache *cache;
} loop;

static void loop_begin(loop *l, int32_t threads)
{
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

typedef enum { STEP, FORWARD_BACKWARD, WITHOUT_CACHE, PREDICT, WAYS } way;

static void go(loop *l, const model_call *f, const prediction *p, way w)
{
    if (w == STEP)
        model_run_step(l->ctx, f);
    else if (w == FORWARD_BACKWARD)
        model_run(l->ctx, f, l->cache);
    else if (w == WITHOUT_CACHE)
        ASSERT_OK(l->ctx, model_forward(l->ctx, f, NULL));
    else
        prediction_run(l->ctx, p);
}

/* Allocator calls of one go at tasks of n points. */
static int64_t count_calls(loop *l, const model_spec *spec, int precision, uint64_t seed, int64_t n,
                           way w)
{
    const int64_t sizes[] = {n, 0, 2 * n}, n_ctx[] = {n / 2, 0, n};
    model_call *f = model_call_create(l->ctx, spec, precision, seed, 3, sizes, n_ctx);
    prediction *p = prediction_create(f);
    const int64_t before = l->meter.calls;
    go(l, f, p, w);
    const int64_t calls = l->meter.calls - before;
    prediction_destroy(p);
    model_call_destroy(f);
    return calls;
}

static void repeat(const model_spec *spec, int precision, int32_t threads, way w)
{
    loop l;
    loop_begin(&l, threads);
    TEST_ASSERT_GREATER_THAN_INT64(0, count_calls(&l, spec, precision, 1, 40, w));
    for (uint64_t seed = 2; seed < 5; seed++)
        TEST_ASSERT_EQUAL_INT64(0, count_calls(&l, spec, precision, seed, 40, w));
    TEST_ASSERT_EQUAL_INT64(0, count_calls(&l, spec, precision, 6, 10, w));
    TEST_ASSERT_EQUAL_INT64(0, count_calls(&l, spec, precision, 7, 40, w));
    loop_end(&l);
}

static void repeat_everywhere(way w)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for (int32_t objective = 0; objective < 4; objective++)
            for (int32_t threads = 1; threads <= 2; threads++) {
                model_spec spec = spec_of(&flavours[i], objective);
                if (objective == NPAGG_OBJECTIVE_ELBO_CLOSED && i != 0 && i != 2)
                    continue;
                repeat(&spec, 32, threads, w);
                repeat(&spec, 64, threads, w);
            }
}

static void test_step_allocates_nothing_after_the_first(void)
{
    repeat_everywhere(STEP);
}

static void test_forward_and_backward_allocate_nothing_after_the_first_step(void)
{
    repeat_everywhere(FORWARD_BACKWARD);
}

static void test_forward_without_a_cache_allocates_nothing_after_the_first(void)
{
    repeat_everywhere(WITHOUT_CACHE);
}

static void test_prediction_allocates_nothing_after_the_first(void)
{
    repeat_everywhere(PREDICT);
}

static void test_every_gradient_mode_allocates_nothing_after_the_first_step(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for (int32_t mode = 0; mode < GRAD_MODES; mode++) {
            model_spec spec = spec_of(&flavours[i], NPAGG_OBJECTIVE_IWAE);
            spec.grad = mode;
            spec.sweeps = 20;
            repeat(&spec, 32, 2, STEP);
            repeat(&spec, 64, 1, FORWARD_BACKWARD);
        }
}

/* Training, validation and prediction in turn, as trainers do. */
static void test_mixed_calls_allocate_nothing_after_the_first_round(void)
{
    loop l;
    const model_spec spec = spec_of(&flavours[5], NPAGG_OBJECTIVE_IWAE);
    loop_begin(&l, 2);
    for (uint64_t round = 0; round < 3; round++)
        for (int w = 0; w < WAYS; w++) {
            const int64_t calls = count_calls(&l, &spec, 32, round + 1, 40, (way)w);
            TEST_ASSERT_TRUE(round == 0 || calls == 0);
        }
    loop_end(&l);
}

static void test_used_memory_leaves_no_trace(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++) {
        loop used, fresh;
        model_spec spec = spec_of(&flavours[i], NPAGG_OBJECTIVE_ELBO);
        loop_begin(&used, 1);
        loop_begin(&fresh, 1);
        count_calls(&used, &spec, 64, 1, 90, STEP);
        model_call *a = model_call_ragged(used.ctx, &spec, 64, 2);
        model_call *b = model_call_ragged(fresh.ctx, &spec, 64, 2);
        model_run_step(used.ctx, a);
        model_run_step(fresh.ctx, b);
        ASSERT_SAME_MODEL_OUTPUTS(b, a);
        model_call_destroy(a);
        model_call_destroy(b);
        loop_end(&used);
        loop_end(&fresh);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_step_allocates_nothing_after_the_first);
    RUN_TEST(test_forward_and_backward_allocate_nothing_after_the_first_step);
    RUN_TEST(test_forward_without_a_cache_allocates_nothing_after_the_first);
    RUN_TEST(test_prediction_allocates_nothing_after_the_first);
    RUN_TEST(test_every_gradient_mode_allocates_nothing_after_the_first_step);
    RUN_TEST(test_mixed_calls_allocate_nothing_after_the_first_round);
    RUN_TEST(test_used_memory_leaves_no_trace);
    return UNITY_END();
}
