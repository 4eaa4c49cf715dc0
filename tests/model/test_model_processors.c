/* A model on processors with fewer instructions than this one: the same to rounding, and on each of
 * them the same bits whatever the threads, the companions and the way of the call. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/ctx.h"
#include "check.h"
#include "model_call.h"

static const uint32_t processors[] = {0, NP_CPU_AVX2_FMA, NP_CPU_AVX2_FMA | NP_CPU_AVX512};

enum { PROCESSORS = 3 };

void setUp(void)
{
}

void tearDown(void)
{
}

static npagg_ctx *create_ctx(uint32_t cpu, int32_t threads)
{
    npagg_ctx *ctx = NULL;
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_ctx_set_threads(ctx, threads));
    ctx->cpu &= cpu;
    return ctx;
}

/* Several tiles and grains, an empty task; or one task that is larger than a grain may be. */
static model_call *draw(int large, const flavour *prior, int32_t objective, int precision)
{
    const int64_t sizes[] = {150, 0, 40, 7, 1, 90}, n_ctx[] = {60, 0, 40, 0, 1, 30};
    const int64_t large_sizes[] = {5, 700, 30}, large_n_ctx[] = {2, 100, 10};
    model_spec spec = spec_of(prior, objective);
    npagg_ctx *ctx = create_ctx(0, 1);
    spec.d = 5;
    spec.width = 17;
    model_call *f = large
                        ? model_call_create(ctx, &spec, precision, 43, 3, large_sizes, large_n_ctx)
                        : model_call_create(ctx, &spec, precision, 43, 6, sizes, n_ctx);
    npagg_ctx_destroy(ctx);
    return f;
}

typedef void (*case_fn)(model_call *f);

static void for_each_case(case_fn fn)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for (int large = 0; large < 2; large++)
            for (int precision = 32; precision <= 64; precision += 32) {
                model_call *f = draw(large, &flavours[i], NPAGG_OBJECTIVE_IWAE, precision);
                fn(f);
                model_call_destroy(f);
            }
}

static unsigned char *outputs_of(const model_call *f)
{
    unsigned char *out = malloc(f->out_bytes);
    TEST_ASSERT_NOT_NULL(out);
    memcpy(out, f->out, f->out_bytes);
    return out;
}

/* One thread forward and backward; a step and three threads must have their bits. */
static void compare_ways(model_call *f)
{
    for (int i = 0; i < PROCESSORS; i++) {
        npagg_ctx *one = create_ctx(processors[i], 1), *three = create_ctx(processors[i], 3);
        model_run_once(one, f);
        unsigned char *want = outputs_of(f);
        model_run_step(one, f);
        check_same_bits((int64_t)f->out_bytes, want, f->out, model_describe(f, "step"), __LINE__);
        model_run_step(three, f);
        check_same_bits((int64_t)f->out_bytes, want, f->out, model_describe(f, "threads"),
                        __LINE__);
        free(want);
        npagg_ctx_destroy(one);
        npagg_ctx_destroy(three);
    }
}

static void test_every_processor_gives_the_same_bits_every_way(void)
{
    for_each_case(compare_ways);
}

static void compare_alone(model_call *f)
{
    for (int i = 0; i < PROCESSORS; i++) {
        npagg_ctx *ctx = create_ctx(processors[i], 2);
        model_run_step(ctx, f);
        for (int64_t b = 0; b < f->n_sets; b++) {
            model_call *alone = model_call_task(f, b);
            model_run_step(ctx, alone);
            check_same_bits((int64_t)f->real, (unsigned char *)f->loss + (size_t)b * f->real,
                            alone->loss, model_describe(f, "loss of a task alone"), __LINE__);
            model_call_destroy(alone);
        }
        npagg_ctx_destroy(ctx);
    }
}

static void test_a_task_alone_has_its_loss_on_every_processor(void)
{
    for_each_case(compare_alone);
}

/* The largest difference of two arrays [n] over the largest number. */
static double distance(const model_call *f, int64_t n, const void *a, const void *b)
{
    double most = 0, size = 1e-300;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, fabs(model_get(f, a, i) - model_get(f, b, i)));
        size = fmax(size, fabs(model_get(f, a, i)));
    }
    return most / size;
}

static void compare_processors(model_call *f)
{
    const double tol = f->precision == 32 ? 2e-5 : 1e-12;
    npagg_ctx *ctx = create_ctx(0, 1);
    model_run_step(ctx, f);
    unsigned char *want = outputs_of(f);
    const size_t at = (size_t)((unsigned char *)f->dparams - f->out);
    const size_t loss = (size_t)((unsigned char *)f->loss - f->out);
    npagg_ctx_destroy(ctx);
    for (int i = 1; i < PROCESSORS; i++) {
        ctx = create_ctx(processors[i], 1);
        model_run_step(ctx, f);
        ASSERT_CLOSE(0, distance(f, f->n_sets, want + loss, f->loss), 0, tol);
        ASSERT_CLOSE(0, distance(f, f->p, want + at, f->dparams), 0, tol);
        npagg_ctx_destroy(ctx);
    }
    free(want);
}

static void test_processors_agree_to_rounding(void)
{
    for_each_case(compare_processors);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_processor_gives_the_same_bits_every_way);
    RUN_TEST(test_a_task_alone_has_its_loss_on_every_processor);
    RUN_TEST(test_processors_agree_to_rounding);
    return UNITY_END();
}
