/* The bits of an encoder depend neither on threads nor on the rest of the batch. */
#include <stdlib.h>
#include <string.h>

#include "encoder_case.h"
#include "meter.h"

void setUp(void)
{
}

void tearDown(void)
{
}

static const encoder_shape shapes[] = {
    {.x_dim = 1, .y_dim = 1, .d = 128, .n_hidden = 3, .widths = {64, 64, 64}},
    {.x_dim = 2, .y_dim = 3, .d = 5, .n_hidden = 2, .widths = {9, 17}, .activation = 1, .trunk = 1},
    {.x_dim = 0, .y_dim = 1, .d = 3},
    {.kind = MEAN,
     .x_dim = 1,
     .y_dim = 1,
     .d = 128,
     .n_hidden = 4,
     .widths = {128, 128, 128, 128},
     .n_post = 1,
     .post_widths = {128}},
    {.kind = MEAN,
     .x_dim = 0,
     .y_dim = 2,
     .d = 3,
     .n_hidden = 1,
     .widths = {7},
     .n_post = 2,
     .post_widths = {5, 4},
     .activation = 1},
    {.kind = ATTENTION,
     .x_dim = 2,
     .y_dim = 1,
     .d = 128,
     .n_hidden = 2,
     .widths = {128, 128},
     .n_heads = 8,
     .n_post = 2,
     .post_widths = {128, 128}},
    {.kind = ATTENTION,
     .x_dim = 1,
     .y_dim = 1,
     .d = 3,
     .n_hidden = 1,
     .widths = {6},
     .n_heads = 6,
     .n_post = 1,
     .post_widths = {5},
     .activation = 2},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };
static const int64_t sizes[] = {300, 0, 1, 127, 129, 45, 700};
enum { SETS = 7 };

static npagg_ctx *ctx_on_threads(int32_t threads)
{
    npagg_ctx *ctx = NULL;
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_ctx_set_threads(ctx, threads));
    return ctx;
}

static void check_same(const encoder_case *c, const encoder_result *want, const encoder_result *got)
{
    const int64_t size = (int64_t)sizeof(double);
    ASSERT_SAME_BITS(c->n_out * c->d * size, want->m, got->m);
    ASSERT_SAME_BITS(c->n_out * c->d * size, want->v, got->v);
    ASSERT_SAME_BITS(c->p * size, want->dparams, got->dparams);
    ASSERT_SAME_BITS(c->n * c->x_dim * size, want->dx, got->dx);
    ASSERT_SAME_BITS(c->n * c->y_dim * size, want->dy, got->dy);
}

static void compare_threads(const encoder_shape *shape, int precision)
{
    const int32_t threads[] = {2, 3, 7};
    npagg_ctx *one = ctx_on_threads(1);
    encoder_case *c = encoder_case_create(one, shape, SETS, sizes, 1);
    encoder_result *want = encoder_run(one, c, precision, NULL);
    for (int i = 0; i < 3; i++) {
        npagg_ctx *many = ctx_on_threads(threads[i]);
        encoder_result *got = encoder_run(many, c, precision, NULL);
        check_same(c, want, got);
        encoder_result_destroy(got);
        npagg_ctx_destroy(many);
    }
    encoder_result_destroy(want);
    encoder_case_destroy(c);
    npagg_ctx_destroy(one);
}

static void test_encoder_gives_the_same_bits_on_any_number_of_threads(void)
{
    for (int i = 0; i < SHAPES; i++) {
        compare_threads(&shapes[i], 32);
        compare_threads(&shapes[i], 64);
    }
}

static void check_set(const encoder_case *c, int64_t b, const encoder_result *whole,
                      const encoder_result *alone)
{
    const int64_t first = c->offsets[b], n = c->offsets[b + 1] - first, size = sizeof(double);
    const int of_points = c->shape->kind == POINTS;
    const int64_t row = of_points ? first : b, rows = of_points ? n : 1;
    ASSERT_SAME_BITS(rows * c->d * size, whole->m + row * c->d, alone->m);
    ASSERT_SAME_BITS(rows * c->d * size, whole->v + row * c->d, alone->v);
    ASSERT_SAME_BITS(n * c->x_dim * size, whole->dx + first * c->x_dim, alone->dx);
    ASSERT_SAME_BITS(n * c->y_dim * size, whole->dy + first * c->y_dim, alone->dy);
}

static void test_encoder_gives_a_set_alone_the_bits_it_has_in_a_batch(void)
{
    npagg_ctx *ctx = ctx_on_threads(1);
    for (int i = 0; i < 2 * SHAPES; i++) {
        const int precision = i % 2 ? 32 : 64;
        encoder_case *c = encoder_case_create(ctx, &shapes[i / 2], SETS, sizes, 2);
        encoder_result *whole = encoder_run(ctx, c, precision, NULL);
        for (int64_t b = 0; b < SETS; b++) {
            encoder_case *one = encoder_case_pick(c, b);
            encoder_result *alone = encoder_run(ctx, one, precision, NULL);
            check_set(c, b, whole, alone);
            encoder_result_destroy(alone);
            encoder_case_end_pick(one);
        }
        encoder_result_destroy(whole);
        encoder_case_destroy(c);
    }
    npagg_ctx_destroy(ctx);
}

static void test_encoder_without_a_cache_gives_the_same_bits(void)
{
    npagg_ctx *ctx = ctx_on_threads(2);
    for (int i = 1; i < SHAPES; i++) {
        encoder_case *c = encoder_case_create(ctx, &shapes[i], SETS, sizes, 3);
        encoder_result *want = encoder_run(ctx, c, 32, NULL);
        encoder_result *got = encoder_run_forward(ctx, c, 32);
        ASSERT_SAME_BITS(c->n_out * c->d * 8, want->m, got->m);
        ASSERT_SAME_BITS(c->n_out * c->d * 8, want->v, got->v);
        encoder_result_destroy(want);
        encoder_result_destroy(got);
        encoder_case_destroy(c);
    }
    npagg_ctx_destroy(ctx);
}

static void test_encoder_allocates_nothing_once_it_is_warm(void)
{
    meter m;
    meter_init(&m);
    npagg_ctx *ctx = meter_ctx(&m);
    npagg_cache *cache = NULL;
    ASSERT_OK(ctx, npagg_ctx_set_threads(ctx, 2));
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    for (int i = 0; i < SHAPES; i++) {
        encoder_case *c = encoder_case_create(ctx, &shapes[i], SETS, sizes, 4);
        encoder_result_destroy(encoder_run(ctx, c, 32, cache));
        const int64_t calls = m.calls;
        for (int j = 0; j < 3; j++)
            encoder_result_destroy(encoder_run(ctx, c, 32, cache));
        TEST_ASSERT_EQUAL_INT64(calls, m.calls);
        encoder_case_destroy(c);
    }
    npagg_cache_destroy(cache);
    npagg_ctx_destroy(ctx);
    ASSERT_BALANCED(&m);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_encoder_gives_the_same_bits_on_any_number_of_threads);
    RUN_TEST(test_encoder_gives_a_set_alone_the_bits_it_has_in_a_batch);
    RUN_TEST(test_encoder_without_a_cache_gives_the_same_bits);
    RUN_TEST(test_encoder_allocates_nothing_once_it_is_warm);
    return UNITY_END();
}
