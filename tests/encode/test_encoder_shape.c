/* Sizes, names, settings and initial parameters of encoders and decoders. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "check.h"
#include "decode/decoder.h"
#include "encode/encoder.h"
#include "numbers.h"

static npagg_ctx *ctx;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

static npagg_encoder *make_encoder(int64_t x, int64_t d, int64_t n_hidden, int64_t width)
{
    int64_t widths[NP_MAX_HIDDEN] = {0};
    npagg_encoder *encoder = NULL;
    for (int64_t l = 0; l < n_hidden; l++)
        widths[l] = width;
    ASSERT_OK(ctx, npagg_encoder_create_mlp(ctx, x, 1, d, n_hidden, widths, &encoder));
    return encoder;
}

static npagg_decoder *make_decoder(int64_t x, int64_t d, int64_t n_hidden, int64_t width)
{
    int64_t widths[NP_MAX_HIDDEN] = {0};
    npagg_decoder *decoder = NULL;
    for (int64_t l = 0; l < n_hidden; l++)
        widths[l] = width;
    ASSERT_OK(ctx, npagg_decoder_create_mlp(ctx, x, 1, d, n_hidden, widths, &decoder));
    return decoder;
}

/* PAPER.md: encoder + decoder. */
static void check_count(int64_t want, int64_t x, int64_t enc_hidden, int64_t enc_width,
                        int64_t dec_hidden)
{
    npagg_encoder *encoder = make_encoder(x, 128, enc_hidden, enc_width);
    npagg_decoder *decoder = make_decoder(x, 128, dec_hidden, 128);
    TEST_ASSERT_EQUAL_INT64(want, npagg_encoder_param_count(encoder) +
                                      npagg_decoder_param_count(decoder));
    npagg_encoder_destroy(encoder);
    npagg_decoder_destroy(decoder);
}

static void test_parameter_counts_are_the_papers(void)
{
    check_count(100226, 1, 3, 64, 2);
    check_count(141954, 2, 4, 64, 3);
    check_count(166914, 2, 2, 128, 3);
}

static void test_encoder_tensors_are_where_their_names_say(void)
{
    npagg_encoder *encoder = make_encoder(1, 3, 2, 4);
    TEST_ASSERT_EQUAL_INT64(0, npagg_encoder_param_offset(encoder, "mean.0.weight"));
    TEST_ASSERT_EQUAL_INT64(8, npagg_encoder_param_offset(encoder, "mean.0.bias"));
    TEST_ASSERT_EQUAL_INT64(12, npagg_encoder_param_offset(encoder, "mean.1.weight"));
    TEST_ASSERT_EQUAL_INT64(47, npagg_encoder_param_offset(encoder, "var.0.weight"));
    TEST_ASSERT_EQUAL_INT64(94, npagg_encoder_param_count(encoder));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_encoder_param_offset(encoder, "mean.3.weight"));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_encoder_param_offset(encoder, "mean"));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_encoder_param_offset(encoder, "trunk.0.weight"));
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_encoder_set_trunk(encoder, 1));
    TEST_ASSERT_EQUAL_INT64(0, npagg_encoder_param_offset(encoder, "trunk.0.weight"));
    TEST_ASSERT_EQUAL_INT64(32, npagg_encoder_param_offset(encoder, "mean.0.weight"));
    TEST_ASSERT_EQUAL_INT64(59, npagg_encoder_param_offset(encoder, "var.0.bias"));
    TEST_ASSERT_EQUAL_INT64(62, npagg_encoder_param_count(encoder));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_encoder_param_offset(encoder, "mean.1.weight"));
    npagg_encoder_destroy(encoder);
}

static void test_decoder_tensors_are_where_their_names_say(void)
{
    np_tensor t;
    npagg_decoder *decoder = make_decoder(2, 3, 1, 4);
    TEST_ASSERT_EQUAL_INT64(0, npagg_decoder_param_offset(decoder, "mean.0.weight"));
    TEST_ASSERT_EQUAL_INT64(29, npagg_decoder_param_offset(decoder, "sd.0.weight"));
    TEST_ASSERT_EQUAL_INT64(58, npagg_decoder_param_count(decoder));
    TEST_ASSERT_EQUAL_INT64(2, npagg_decoder_output_count(decoder));
    TEST_ASSERT_EQUAL_INT(1, np_decoder_tensor(decoder, 4, &t));
    TEST_ASSERT_EQUAL_STRING("sd.0.weight", t.name);
    TEST_ASSERT_EQUAL_INT64(4, t.rows);
    TEST_ASSERT_EQUAL_INT64(5, t.columns);
    TEST_ASSERT_EQUAL_INT(0, np_decoder_tensor(decoder, 8, &t));
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK,
                            npagg_decoder_set_likelihood(decoder, NPAGG_LIKELIHOOD_BERNOULLI));
    TEST_ASSERT_EQUAL_INT64(29, npagg_decoder_param_count(decoder));
    TEST_ASSERT_EQUAL_INT64(1, npagg_decoder_output_count(decoder));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_decoder_param_offset(decoder, "sd.0.weight"));
    npagg_decoder_destroy(decoder);
}

/* Bits of the first and last numbers, for ever. */
static void test_initial_parameters_are_the_same_everywhere(void)
{
    npagg_encoder *encoder = make_encoder(1, 3, 1, 4);
    npagg_decoder *decoder = make_decoder(1, 3, 1, 4);
    double e[64], d[64];
    float f[64];
    ASSERT_OK(ctx, npagg_encoder_init_params_f64(ctx, encoder, 7, e));
    ASSERT_OK(ctx, npagg_encoder_init_params_f32(ctx, encoder, 7, f));
    ASSERT_OK(ctx, npagg_decoder_init_params_f64(ctx, decoder, 7, d));
    for (int64_t i = 0; i < npagg_encoder_param_count(encoder); i++)
        TEST_ASSERT_TRUE(f[i] == (float)e[i]);
    TEST_ASSERT_TRUE(e[0] == 0x1.c3203e7569afdp-2 && e[53] == 0x1.67ea38ad83a56p-2);
    TEST_ASSERT_TRUE(d[0] == 0x1.b416654038790p-5 && d[49] == 0x1.729b9b4c4e3ccp-3);
    npagg_encoder_destroy(encoder);
    npagg_decoder_destroy(decoder);
}

/* Each tensor fills its range evenly: mean near 0, variance bound^2 / 3. */
static void check_range(int64_t n, const double *x, double bound)
{
    double sum = 0, square = 0, most = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i];
        square += x[i] * x[i];
        most = fmax(most, fabs(x[i]));
    }
    TEST_ASSERT_TRUE(most < bound);
    TEST_ASSERT_TRUE(n < 100 || most > 0.9 * bound);
    ASSERT_CLOSE(0, sum / (double)n / bound, 0, 4 / sqrt(3 * (double)n));
    ASSERT_CLOSE(1, 3 * square / (double)n / bound / bound, 0, 4 * sqrt(0.8 / (double)n));
}

static void test_initial_parameters_are_uniform_in_their_range(void)
{
    np_tensor t;
    npagg_encoder *encoder = make_encoder(2, 128, 3, 64);
    double *params = zeros_of(npagg_encoder_param_count(encoder)), bound = 0;
    ASSERT_OK(ctx, npagg_encoder_init_params_f64(ctx, encoder, 3, params));
    for (int64_t i = 0; np_encoder_tensor(encoder, i, &t); i++) {
        if (t.columns > 0)
            bound = 1 / sqrt((double)t.columns);
        check_range(t.rows * (t.columns > 0 ? t.columns : 1), params + t.offset, bound);
    }
    free(params);
    npagg_encoder_destroy(encoder);
}

static void test_settings_out_of_range_change_nothing(void)
{
    npagg_encoder *e = make_encoder(1, 3, 0, 0);
    npagg_decoder *d = make_decoder(1, 3, 1, 4);
    const npagg_encoder encoder = *e;
    const npagg_decoder decoder = *d;
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_encoder_set_activation(e, -1));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_encoder_set_activation(e, 5));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_encoder_set_trunk(e, 1)); /* no hidden layer */
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_encoder_set_trunk(e, 2));
    const double range[][2] = {{0, 1}, {-1, 1}, {1, 1}, {2, 1}, {NAN, 1}, {1, NAN}, {1, INFINITY}};
    for (int i = 0; i < 7; i++)
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG,
                                npagg_encoder_set_var_range(e, range[i][0], range[i][1]));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_decoder_set_activation(d, 5));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_decoder_set_likelihood(d, 2));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_decoder_set_likelihood(d, -1));
    const double floors[] = {-1e-9, 1, 2, NAN, -INFINITY};
    for (int i = 0; i < 5; i++)
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_decoder_set_sd_floor(d, floors[i]));
    TEST_ASSERT_TRUE(np_encoder_is_same(&encoder, e));
    TEST_ASSERT_TRUE(np_decoder_is_same(&decoder, d));
    npagg_encoder_destroy(e);
    npagg_decoder_destroy(d);
}

static void test_functions_of_nothing_are_refused(void)
{
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_encoder_set_activation(NULL, 0));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_encoder_set_trunk(NULL, 0));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_encoder_set_var_range(NULL, 1, 2));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_decoder_set_activation(NULL, 0));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_decoder_set_likelihood(NULL, 0));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_decoder_set_sd_floor(NULL, 0));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_encoder_param_count(NULL));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_decoder_param_count(NULL));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_decoder_output_count(NULL));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_encoder_param_offset(NULL, "mean.0.weight"));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_decoder_param_offset(NULL, "mean.0.weight"));
    TEST_ASSERT_EQUAL_INT32(-1, npagg_encoder_per_set(NULL));
    npagg_encoder_destroy(NULL);
    npagg_decoder_destroy(NULL);
    npagg_encoder *e = make_encoder(1, 3, 0, 0);
    TEST_ASSERT_EQUAL_INT32(0, npagg_encoder_per_set(e));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_encoder_param_offset(e, NULL));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "params is NULL",
                 npagg_encoder_init_params_f32(ctx, e, 1, NULL));
    npagg_encoder_destroy(e);
}

static npagg_status create_both(int64_t x, int64_t y, int64_t d, int64_t n, const int64_t *widths)
{
    npagg_encoder *e = NULL;
    npagg_decoder *m = NULL;
    const npagg_status status = npagg_encoder_create_mlp(ctx, x, y, d, n, widths, &e);
    TEST_ASSERT_EQUAL_INT32(status, npagg_decoder_create_mlp(ctx, x, y, d, n, widths, &m));
    TEST_ASSERT_TRUE(status == NPAGG_OK || (!e && !m));
    npagg_encoder_destroy(e);
    npagg_decoder_destroy(m);
    return status;
}

static void test_create_of_bad_shapes_is_refused(void)
{
    int64_t w[NP_MAX_HIDDEN + 1];
    for (int i = 0; i <= NP_MAX_HIDDEN; i++)
        w[i] = 2;
    ASSERT_OK(ctx, create_both(0, 1, 1, NP_MAX_HIDDEN, w));
    ASSERT_OK(ctx, create_both(1, 1, 1, 0, NULL));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "x_dim = -1", create_both(-1, 1, 1, 1, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "y_dim = 0", create_both(1, 0, 1, 1, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "d = 0", create_both(1, 1, 0, 1, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "n_hidden = -1", create_both(1, 1, 1, -1, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "n_hidden = 33", create_both(1, 1, 1, 33, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "widths is NULL", create_both(1, 1, 1, 1, NULL));
    w[1] = 0;
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "widths[1] = 0", create_both(1, 1, 1, 3, w));
    w[1] = INT64_MAX / 4;
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "does not fit", create_both(1, 1, 1, 3, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "does not fit", create_both(INT64_MAX, 1, 1, 1, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "does not fit", create_both(1, INT64_MAX, 1, 1, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "does not fit", create_both(1, 1, INT64_MAX, 0, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "out is NULL",
                 npagg_encoder_create_mlp(ctx, 1, 1, 1, 0, NULL, NULL));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "out is NULL",
                 npagg_decoder_create_mlp(ctx, 1, 1, 1, 0, NULL, NULL));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG,
                            npagg_encoder_create_mlp(NULL, 1, 1, 1, 0, NULL, (void *)&w));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_parameter_counts_are_the_papers);
    RUN_TEST(test_encoder_tensors_are_where_their_names_say);
    RUN_TEST(test_decoder_tensors_are_where_their_names_say);
    RUN_TEST(test_initial_parameters_are_the_same_everywhere);
    RUN_TEST(test_initial_parameters_are_uniform_in_their_range);
    RUN_TEST(test_settings_out_of_range_change_nothing);
    RUN_TEST(test_functions_of_nothing_are_refused);
    RUN_TEST(test_create_of_bad_shapes_is_refused);
    return UNITY_END();
}
