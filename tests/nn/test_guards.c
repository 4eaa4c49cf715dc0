/* No call reads or writes beyond the caller's arrays: behind each is a page nobody may touch. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "guarded.h"
#include "problem.h"

static npagg_ctx *ctx;
static npagg_cache *cache;
static test_rng rng = {1};

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
}

void tearDown(void)
{
    guarded_destroy_all();
    npagg_cache_destroy(cache);
    npagg_ctx_destroy(ctx);
}

static float *draw(int64_t n)
{
    float *x = guarded_create((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(&rng);
    return x;
}

static void run_encoder(const npagg_encoder *encoder, int64_t x_dim, int64_t y_dim, int64_t d,
                        int64_t n)
{
    const int64_t offsets[] = {0, n}, p = npagg_encoder_param_count(encoder);
    float *params = draw(p), *x = draw(n * x_dim), *y = draw(n * y_dim), *m = draw(n * d),
          *v = draw(n * d);
    /* of a set m and v are one row: the last one, in front of the page */
    const int64_t rows = npagg_encoder_per_set(encoder) ? 1 : n;
    m += (n - rows) * d;
    v += (n - rows) * d;
    ASSERT_OK(ctx, npagg_encoder_forward_f32(ctx, encoder, params, 1, offsets, x, y, m, v, cache));
    float *dp = draw(p), *dx = draw(n * x_dim), *dy = draw(n * y_dim);
    ASSERT_OK(ctx, npagg_encoder_backward_f32(ctx, encoder, params, 1, offsets, x, y, m, v, dp, dx,
                                              dy, cache));
    guarded_check();
    guarded_destroy_all();
}

static void run_decoder(const npagg_decoder *decoder, int64_t x_dim, int64_t d, int64_t n,
                        int64_t s)
{
    const int64_t offsets[] = {0, n}, p = npagg_decoder_param_count(decoder);
    float *params = draw(p), *x = draw(n * x_dim), *z = draw(s * d);
    float *py = draw(n * s * npagg_decoder_output_count(decoder));
    ASSERT_OK(ctx, npagg_decoder_forward_f32(ctx, decoder, params, 1, offsets, s, x, z, py, cache));
    float *dp = draw(p), *dx = draw(n * x_dim), *dz = draw(s * d);
    ASSERT_OK(ctx, npagg_decoder_backward_f32(ctx, decoder, params, 1, offsets, s, x, z, py, dp, dx,
                                              dz, cache));
    guarded_check();
    guarded_destroy_all();
}

/* Sizes at which the products have odd ends. */
static const int64_t sizes[] = {1, 2, 3, 5, 15, 17};
enum { SIZES = 6 };

static void test_encoder_stays_inside_the_callers_arrays(void)
{
    for (int i = 0; i < SIZES * SIZES; i++) {
        const int64_t a = sizes[i / SIZES], b = sizes[i % SIZES], widths[] = {b, a};
        npagg_encoder *encoder = NULL;
        ASSERT_OK(ctx, npagg_encoder_create_mlp(ctx, i % 4, b, a, i % 3, widths, &encoder));
        run_encoder(encoder, i % 4, b, a, 1 + i * 5);
        npagg_encoder_destroy(encoder);
    }
}

static void test_encoders_of_sets_stay_inside_the_callers_arrays(void)
{
    for (int i = 0; i < SIZES * SIZES; i++) {
        const int64_t a = sizes[i / SIZES], b = sizes[i % SIZES], widths[] = {a, b};
        npagg_encoder *mean = NULL, *attention = NULL;
        ASSERT_OK(ctx, npagg_encoder_create_mean(ctx, i % 4, b, a, 1 + i % 2, widths, 1 + i % 2,
                                                 widths, &mean));
        ASSERT_OK(ctx, npagg_encoder_create_attention(ctx, i % 4, b, a, 2, widths, i % 2 ? b : 1, 1,
                                                      widths, &attention));
        run_encoder(mean, i % 4, b, a, 1 + i * 5);
        run_encoder(attention, i % 4, b, a, 1 + i * 5);
        npagg_encoder_destroy(mean);
        npagg_encoder_destroy(attention);
    }
}

static void test_decoder_stays_inside_the_callers_arrays(void)
{
    for (int i = 0; i < SIZES * SIZES; i++) {
        const int64_t a = sizes[i / SIZES], b = sizes[i % SIZES], widths[] = {b, a};
        npagg_decoder *decoder = NULL;
        ASSERT_OK(ctx, npagg_decoder_create_mlp(ctx, i % 4, 1 + i % 2, a, i % 3, widths, &decoder));
        run_decoder(decoder, i % 4, a, 1 + i, 1 + i % 7);
        npagg_decoder_destroy(decoder);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_encoder_stays_inside_the_callers_arrays);
    RUN_TEST(test_encoders_of_sets_stay_inside_the_callers_arrays);
    RUN_TEST(test_decoder_stays_inside_the_callers_arrays);
    return UNITY_END();
}
