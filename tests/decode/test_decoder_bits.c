/* The bits of a decoder depend neither on threads nor on the rest of the batch. */
#include <stdlib.h>
#include <string.h>

#include "decoder_case.h"
#include "meter.h"

void setUp(void)
{
}

void tearDown(void)
{
}

static const decoder_shape shapes[] = {
    {1, 1, 128, 2, {128, 128}, 5, NPAGG_ACTIVATION_RELU, 0, -1},
    {2, 3, 5, 2, {9, 17}, 130, NPAGG_ACTIVATION_GELU, 0, -1},
    {0, 1, 3, 0, {0}, 1, NPAGG_ACTIVATION_RELU, 1, -1},
    {2, 1, 6, 1, {11}, 50, NPAGG_ACTIVATION_TANH, 1, -1},
};
static const int64_t sizes[] = {38, 0, 1, 26, 25, 150, 3};
enum { SETS = 7 };

static npagg_ctx *ctx_on_threads(int32_t threads)
{
    npagg_ctx *ctx = NULL;
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_ctx_set_threads(ctx, threads));
    return ctx;
}

static void check_same(const decoder_case *c, const decoder_result *want, const decoder_result *got)
{
    const int64_t size = (int64_t)sizeof(double);
    ASSERT_SAME_BITS(c->n * c->n_samples * c->outputs * size, want->py, got->py);
    ASSERT_SAME_BITS(c->p * size, want->dparams, got->dparams);
    ASSERT_SAME_BITS(c->n * c->x_dim * size, want->dx, got->dx);
    ASSERT_SAME_BITS(c->n_sets * c->n_samples * c->d * size, want->dz, got->dz);
}

static void compare_threads(const decoder_shape *shape, int precision)
{
    const int32_t threads[] = {2, 3, 7};
    npagg_ctx *one = ctx_on_threads(1);
    decoder_case *c = decoder_case_create(one, shape, SETS, sizes, 1);
    decoder_result *want = decoder_run(one, c, precision, NULL);
    for (int i = 0; i < 3; i++) {
        npagg_ctx *many = ctx_on_threads(threads[i]);
        decoder_result *got = decoder_run(many, c, precision, NULL);
        check_same(c, want, got);
        decoder_result_destroy(got);
        npagg_ctx_destroy(many);
    }
    decoder_result_destroy(want);
    decoder_case_destroy(c);
    npagg_ctx_destroy(one);
}

static void test_decoder_gives_the_same_bits_on_any_number_of_threads(void)
{
    for (int i = 0; i < 4; i++) {
        compare_threads(&shapes[i], 32);
        compare_threads(&shapes[i], 64);
    }
}

static void check_set(const decoder_case *c, int64_t b, const decoder_result *whole,
                      const decoder_result *alone)
{
    const int64_t first = c->offsets[b], n = c->offsets[b + 1] - first, size = sizeof(double);
    const int64_t row = c->n_samples * c->outputs, z = c->n_samples * c->d;
    ASSERT_SAME_BITS(n * row * size, whole->py + first * row, alone->py);
    ASSERT_SAME_BITS(n * c->x_dim * size, whole->dx + first * c->x_dim, alone->dx);
    ASSERT_SAME_BITS(z * size, whole->dz + b * z, alone->dz);
}

static void test_decoder_gives_a_set_alone_the_bits_it_has_in_a_batch(void)
{
    npagg_ctx *ctx = ctx_on_threads(1);
    for (int i = 0; i < 8; i++) {
        const int precision = i % 2 ? 32 : 64;
        decoder_case *c = decoder_case_create(ctx, &shapes[i / 2], SETS, sizes, 2);
        decoder_result *whole = decoder_run(ctx, c, precision, NULL);
        for (int64_t b = 0; b < SETS; b++) {
            decoder_case *one = decoder_case_pick(c, b);
            decoder_result *alone = decoder_run(ctx, one, precision, NULL);
            check_set(c, b, whole, alone);
            decoder_result_destroy(alone);
            decoder_case_end_pick(one);
        }
        decoder_result_destroy(whole);
        decoder_case_destroy(c);
    }
    npagg_ctx_destroy(ctx);
}

static void test_decoder_without_a_cache_gives_the_same_bits(void)
{
    npagg_ctx *ctx = ctx_on_threads(2);
    decoder_case *c = decoder_case_create(ctx, &shapes[1], SETS, sizes, 3);
    decoder_result *want = decoder_run(ctx, c, 32, NULL);
    decoder_result *got = decoder_run_forward(ctx, c, 32);
    ASSERT_SAME_BITS(c->n * c->n_samples * c->outputs * 8, want->py, got->py);
    decoder_result_destroy(want);
    decoder_result_destroy(got);
    decoder_case_destroy(c);
    npagg_ctx_destroy(ctx);
}

static void test_decoder_allocates_nothing_once_it_is_warm(void)
{
    meter m;
    meter_init(&m);
    npagg_ctx *ctx = meter_ctx(&m);
    npagg_cache *cache = NULL;
    ASSERT_OK(ctx, npagg_ctx_set_threads(ctx, 2));
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    decoder_case *c = decoder_case_create(ctx, &shapes[0], SETS, sizes, 4);
    decoder_result_destroy(decoder_run(ctx, c, 32, cache));
    const int64_t calls = m.calls;
    for (int i = 0; i < 3; i++)
        decoder_result_destroy(decoder_run(ctx, c, 32, cache));
    TEST_ASSERT_EQUAL_INT64(calls, m.calls);
    decoder_case_destroy(c);
    npagg_cache_destroy(cache);
    npagg_ctx_destroy(ctx);
    ASSERT_BALANCED(&m);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_decoder_gives_the_same_bits_on_any_number_of_threads);
    RUN_TEST(test_decoder_gives_a_set_alone_the_bits_it_has_in_a_batch);
    RUN_TEST(test_decoder_without_a_cache_gives_the_same_bits);
    RUN_TEST(test_decoder_allocates_nothing_once_it_is_warm);
    return UNITY_END();
}
