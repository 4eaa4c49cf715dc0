/* Losses of hopeless models, what a loaded model is asked, and files with endless arrays. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static npagg_ctx *ctx;

void setUp(void)
{
    TEST_ASSERT_EQUAL(NPAGG_OK, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

enum { D = 2, K = 3, S = 4, ROWS = 4 };

static npagg_model *create(int32_t kind, int32_t likelihood)
{
    const int64_t widths[] = {5};
    npagg_encoder *encoder = NULL;
    npagg_prior *prior = NULL;
    npagg_decoder *decoder = NULL;
    npagg_objective *objective = NULL;
    npagg_model *model = NULL;
    ASSERT_OK(ctx, npagg_encoder_create_mlp(ctx, 1, 1, D, 1, widths, &encoder));
    ASSERT_OK(ctx, npagg_prior_create_mixture(ctx, D, K, &prior));
    ASSERT_OK(ctx, npagg_decoder_create_mlp(ctx, 1, 1, D, 1, widths, &decoder));
    ASSERT_OK(ctx, npagg_decoder_set_likelihood(decoder, likelihood));
    ASSERT_OK(ctx, npagg_objective_create(ctx, kind, &objective));
    ASSERT_OK(ctx, npagg_objective_set_samples(objective, S));
    ASSERT_OK(ctx, npagg_objective_set_points(objective, NPAGG_POINTS_ALL));
    ASSERT_OK(ctx, npagg_model_create(ctx, encoder, prior, NULL, decoder, objective, &model));
    npagg_objective_destroy(objective);
    npagg_decoder_destroy(decoder);
    npagg_prior_destroy(prior);
    npagg_encoder_destroy(encoder);
    return model;
}

/* Every sample says that the data are impossible. */
static void check_hopeless(int32_t kind)
{
    const int64_t offsets[] = {0, ROWS}, n_ctx[] = {2};
    const double x[ROWS] = {0}, y[ROWS] = {0}, noise[S * D] = {0};
    double loss;
    npagg_model *model = create(kind, NPAGG_LIKELIHOOD_GAUSSIAN);
    double *params = calloc((size_t)npagg_model_param_count(model), sizeof *params);
    TEST_ASSERT_NOT_NULL(params);
    ASSERT_OK(ctx, npagg_model_init_params_f64(ctx, model, 1, params));
    params[npagg_model_param_offset(model, "decoder.mean.1.bias")] = 1e160;
    ASSERT_OK(ctx, npagg_model_forward_f64(ctx, model, params, 1, offsets, n_ctx, x, y, noise, NULL,
                                           &loss, NULL));
    TEST_ASSERT_TRUE(isfinite(loss) && loss > 1e300);
    free(params);
    npagg_model_destroy(model);
}

static void test_loss_of_a_hopeless_model_is_large_and_finite(void)
{
    for (int32_t kind = NPAGG_OBJECTIVE_ELBO; kind <= NPAGG_OBJECTIVE_ML; kind++)
        check_hopeless(kind);
}

static void test_model_says_what_its_arrays_look_like(void)
{
    npagg_model *gaussian = create(NPAGG_OBJECTIVE_IWAE, NPAGG_LIKELIHOOD_GAUSSIAN);
    npagg_model *bernoulli = create(NPAGG_OBJECTIVE_IWAE, NPAGG_LIKELIHOOD_BERNOULLI);
    TEST_ASSERT_EQUAL_INT64(2, npagg_model_size(gaussian, "outputs"));
    TEST_ASSERT_EQUAL_INT64(1, npagg_model_size(bernoulli, "outputs"));
    TEST_ASSERT_EQUAL_INT64(NPAGG_SAMPLE_STRATIFIED, npagg_model_size(gaussian, "sampling"));
    TEST_ASSERT_EQUAL_INT64(K, npagg_model_size(gaussian, "k"));
    TEST_ASSERT_EQUAL_INT64(S, npagg_model_size(gaussian, "samples"));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_model_size(gaussian, "z"));
    npagg_model_destroy(gaussian);
    npagg_model_destroy(bernoulli);
}

static void test_model_chooses_as_its_prior_does(void)
{
    npagg_model *model = create(NPAGG_OBJECTIVE_ML, NPAGG_LIKELIHOOD_GAUSSIAN);
    npagg_prior *prior = NULL;
    double q[2 * K * D + K] = {0}, u[S] = {0.05, 0.2, 0.65, 0.95};
    const double w[K] = {0.1, 0.6, 0.3};
    int32_t got[S], want[S];
    for (int k = 0; k < K; k++)
        q[2 * K * D + k] = log(w[k]);
    for (int j = 0; j < K * D; j++)
        q[K * D + j] = 1;
    ASSERT_OK(ctx, npagg_prior_create_mixture(ctx, D, K, &prior));
    ASSERT_OK(ctx, npagg_posterior_choose_f64(ctx, prior, 1, S, q, u, want));
    ASSERT_OK(ctx, npagg_model_choose_f64(ctx, model, 1, S, q, u, got));
    TEST_ASSERT_EQUAL_INT32_ARRAY(want, got, S);
    TEST_ASSERT_EQUAL_INT32(0, got[0]);
    TEST_ASSERT_EQUAL_INT32(2, got[3]);
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "model is NULL",
                 npagg_model_choose_f64(ctx, NULL, 1, S, q, u, got));
    npagg_prior_destroy(prior);
    npagg_model_destroy(model);
}

static void test_file_with_an_endless_shape_is_refused_before_it_is_parsed(void)
{
    enum { ZEROS = 100000 };
    char path[] = "/tmp/npagg-endless-XXXXXX";
    const int fd = mkstemp(path);
    TEST_ASSERT_TRUE(fd >= 0);
    FILE *file = fdopen(fd, "wb");
    TEST_ASSERT_NOT_NULL(file);
    const char *head = "{\"a\":{\"dtype\":\"U8\",\"shape\":[0",
               *tail = "],\"data_offsets\":[0,0]}}";
    const uint64_t length = strlen(head) + 2 * ZEROS + strlen(tail);
    for (int i = 0; i < 8; i++)
        fputc((int)(length >> (8 * i) & 255), file);
    fputs(head, file);
    for (int i = 0; i < ZEROS; i++)
        fputs(",0", file);
    fputs(tail, file);
    fclose(file);
    npagg_model *model = NULL;
    ASSERT_FAILS(ctx, NPAGG_E_FORMAT, "array of more than", npagg_model_load(ctx, path, &model));
    TEST_ASSERT_NULL(model);
    remove(path);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_loss_of_a_hopeless_model_is_large_and_finite);
    RUN_TEST(test_model_says_what_its_arrays_look_like);
    RUN_TEST(test_model_chooses_as_its_prior_does);
    RUN_TEST(test_file_with_an_endless_shape_is_refused_before_it_is_parsed);
    return UNITY_END();
}
