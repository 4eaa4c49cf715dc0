/* What a model is made of: stages that fit, parameters by name, and nothing borrowed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "model_call.h"
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

static npagg_status create(const model_parts *p, npagg_model **out)
{
    return npagg_model_create(ctx, p->encoder, p->prior, p->vmp, p->decoder, p->objective, out);
}

/* Creating from these parts fails and leaves the output. */
static void refuse(const model_parts *parts, npagg_status status, const char *text, int line)
{
    npagg_model *const unmade = (npagg_model *)&ctx, *out = unmade;
    check_status(ctx, status, create(parts, &out), text, "model_create", line);
    TEST_ASSERT_EQUAL_PTR(unmade, out);
}

#define ASSERT_NO_MODEL(parts, status, text) refuse((parts), (status), (text), __LINE__)

static void test_create_without_a_stage_names_it(void)
{
    const model_spec spec = spec_of(&flavours[0], NPAGG_OBJECTIVE_ELBO);
    model_parts parts = parts_create(ctx, &spec), bad = parts;
    npagg_model *out = NULL;
    bad.encoder = NULL;
    ASSERT_NO_MODEL(&bad, NPAGG_E_ARG, "encoder is NULL");
    bad = parts, bad.prior = NULL;
    ASSERT_NO_MODEL(&bad, NPAGG_E_ARG, "prior is NULL");
    bad = parts, bad.decoder = NULL;
    ASSERT_NO_MODEL(&bad, NPAGG_E_ARG, "decoder is NULL");
    bad = parts, bad.objective = NULL;
    ASSERT_NO_MODEL(&bad, NPAGG_E_ARG, "objective is NULL");
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "out is NULL", create(&parts, NULL));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG,
                            npagg_model_create(NULL, parts.encoder, parts.prior, parts.vmp,
                                               parts.decoder, parts.objective, &out));
    TEST_ASSERT_NULL(out);
    parts_destroy(&parts);
}

static void test_create_of_stages_that_do_not_fit_says_which_number(void)
{
    const struct {
        int64_t d, x, y;
        int part; /* 0 encoder, 1 prior, 2 decoder */
        const char *text;
    } faults[] = {
        {3, 0, 0, 0, "encoder d = 3, want 2"},     {3, 0, 0, 1, "encoder d = 2, want 3"},
        {3, 0, 0, 2, "decoder d = 3, want 2"},     {0, 4, 0, 0, "decoder x_dim = 1, want 4"},
        {0, 4, 0, 2, "decoder x_dim = 4, want 1"}, {0, 0, 5, 0, "decoder y_dim = 1, want 5"},
        {0, 0, 5, 2, "decoder y_dim = 5, want 1"},
    };
    const model_spec spec = spec_of(&flavours[0], NPAGG_OBJECTIVE_ELBO);
    model_parts parts = parts_create(ctx, &spec);
    for (int i = 0; i < 7; i++) {
        model_spec other = spec;
        other.d = faults[i].d;
        other.x_dim = faults[i].x;
        other.y_dim = faults[i].y;
        model_parts strange = parts_create(ctx, &other), mixed = parts;
        if (faults[i].part == 0)
            mixed.encoder = strange.encoder;
        else if (faults[i].part == 1)
            mixed.prior = strange.prior;
        else
            mixed.decoder = strange.decoder;
        ASSERT_NO_MODEL(&mixed, NPAGG_E_ARG, faults[i].text);
        parts_destroy(&strange);
    }
    parts_destroy(&parts);
}

static void refuse_spec(const model_spec *spec, npagg_status status, const char *text, int line)
{
    model_parts parts = parts_create(ctx, spec);
    refuse(&parts, status, text, line);
    parts_destroy(&parts);
}

static void test_stratified_sampling_wants_a_sample_per_component(void)
{
    model_spec spec = spec_of(&flavours[2], NPAGG_OBJECTIVE_IWAE);
    spec.samples = 2;
    refuse_spec(&spec, NPAGG_E_ARG, "2 samples, want at least 3", __LINE__);
    spec.sampling = NPAGG_SAMPLE_CHOSEN;
    model_parts parts = parts_create(ctx, &spec);
    npagg_model *model = NULL;
    ASSERT_OK(ctx, create(&parts, &model));
    npagg_model_destroy(model);
    parts_destroy(&parts);
}

static void test_closed_divergence_of_a_mixture_is_not_supported(void)
{
    for (int i = 2; i < 4; i++) {
        model_spec spec = spec_of(&flavours[i], NPAGG_OBJECTIVE_ELBO);
        spec.kl = NPAGG_KL_CLOSED;
        refuse_spec(&spec, NPAGG_E_UNSUP, "one component", __LINE__);
    }
}

static void test_elbo_closed_of_iterated_inference_is_not_supported(void)
{
    const int iterated[] = {1, 3, 4, 5};
    for (int i = 0; i < 4; i++) {
        const model_spec spec = spec_of(&flavours[iterated[i]], NPAGG_OBJECTIVE_ELBO_CLOSED);
        refuse_spec(&spec, NPAGG_E_UNSUP, "elbo_closed", __LINE__);
    }
}

/* More samples than memory addresses: refused when the arrays are known, not before. */
static void test_samples_beyond_memory_are_refused(void)
{
    const int64_t samples[] = {INT64_MAX, INT64_MAX / 2, INT64_MAX / 16};
    for (int i = 0; i < 3; i++) {
        const int64_t offsets[] = {0, 1}, n_ctx = 0;
        const model_spec spec = spec_of(&flavours[0], NPAGG_OBJECTIVE_IWAE);
        model_parts parts = parts_create(ctx, &spec);
        npagg_model *model = NULL;
        double params[200] = {0}, one = 0, dloss = 1, loss = 7, grad[200] = {0};
        ASSERT_OK(ctx, npagg_objective_set_samples(parts.objective, samples[i]));
        ASSERT_OK(ctx, create(&parts, &model));
        ASSERT_FAILS(ctx, NPAGG_E_ARG, "memory addresses",
                     npagg_model_step_f64(ctx, model, params, 1, offsets, &n_ctx, &one, &one, &one,
                                          NULL, &dloss, &loss, grad));
        TEST_ASSERT_EQUAL_DOUBLE(7, loss);
        npagg_model_destroy(model);
        parts_destroy(&parts);
    }
}

static npagg_model *create_paper(const flavour *prior, int64_t x, int64_t enc_depth, int64_t enc,
                                 int64_t dec_depth)
{
    int64_t widths[8], wide[8];
    model_parts p = {0};
    npagg_model *model = NULL;
    const model_spec spec = spec_of(prior, NPAGG_OBJECTIVE_IWAE);
    model_spec latent = spec;
    latent.d = 128;
    p = parts_create(ctx, &latent);
    npagg_encoder_destroy(p.encoder);
    npagg_decoder_destroy(p.decoder);
    for (int i = 0; i < 8; i++) {
        widths[i] = enc;
        wide[i] = 128;
    }
    ASSERT_OK(ctx, npagg_encoder_create_mlp(ctx, x, 1, 128, enc_depth - 1, widths, &p.encoder));
    ASSERT_OK(ctx, npagg_decoder_create_mlp(ctx, x, 1, 128, dec_depth - 1, wide, &p.decoder));
    ASSERT_OK(ctx, create(&p, &model));
    parts_destroy(&p);
    return model;
}

/* Networks of 1-D regression and of image completion, as the text has it and as the count says. */
static void test_parameter_counts_are_those_of_the_paper(void)
{
    const struct {
        int64_t x, enc_depth, enc, dec_depth, count;
    } papers[] = {{1, 4, 64, 3, 100226}, {2, 5, 64, 4, 141954}, {2, 3, 128, 4, 166914}};
    const int64_t priors[FLAVOURS] = {2 * 128, 2 * 128 + 1, 3 * (2 * 128 + 1), 3 * 257 + 1, 2, 3};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < FLAVOURS; j++) {
            npagg_model *model = create_paper(&flavours[j], papers[i].x, papers[i].enc_depth,
                                              papers[i].enc, papers[i].dec_depth);
            TEST_ASSERT_EQUAL_INT64(papers[i].count + priors[j], npagg_model_param_count(model));
            npagg_model_destroy(model);
        }
}

/* Every number belongs to one tensor, every tensor is found by its name. */
static void check_tensors(const model_call *f)
{
    int64_t end = 0, offset, rows, columns;
    const int64_t n = npagg_model_tensor_count(f->model);
    for (int64_t i = 0; i < n; i++) {
        const char *name = npagg_model_tensor_name(f->model, i);
        TEST_ASSERT_EQUAL_INT32(NPAGG_OK,
                                npagg_model_tensor_shape(f->model, i, &offset, &rows, &columns));
        TEST_ASSERT_EQUAL_INT64_MESSAGE(end, offset, name);
        TEST_ASSERT_EQUAL_INT64_MESSAGE(end, npagg_model_param_offset(f->model, name), name);
        TEST_ASSERT_TRUE_MESSAGE(rows > 0 && columns >= 0, name);
        end += rows * (columns > 0 ? columns : 1);
        for (int64_t j = 0; j < i; j++)
            TEST_ASSERT_TRUE_MESSAGE(strcmp(name, npagg_model_tensor_name(f->model, j)) != 0, name);
    }
    TEST_ASSERT_EQUAL_INT64(npagg_model_param_count(f->model), end);
    const int64_t prior = npagg_encoder_param_count(f->parts.encoder);
    const int has_prior = f->parts.prior != NULL;
    const int64_t decoder = prior + (has_prior ? npagg_prior_param_count(f->parts.prior) : 0);
    TEST_ASSERT_EQUAL_INT64(0, npagg_model_param_offset(f->model, "encoder"));
    TEST_ASSERT_EQUAL_INT64(has_prior ? prior : -1, npagg_model_param_offset(f->model, "prior"));
    TEST_ASSERT_EQUAL_INT64(decoder, npagg_model_param_offset(f->model, "decoder"));
    TEST_ASSERT_EQUAL_INT64(decoder + npagg_decoder_param_count(f->parts.decoder), end);
}

static void test_tensors_cover_the_parameters_without_gaps(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for (int j = 0; j < 4; j++) {
            model_spec spec = spec_of(&flavours[i], NPAGG_OBJECTIVE_ML);
            spec.trunk = j & 1;
            spec.bernoulli = j >> 1;
            model_call *f = model_call_ragged(ctx, &spec, 64, 1);
            check_tensors(f);
            model_call_destroy(f);
        }
}

static void test_tensors_have_the_names_and_places_of_their_stages(void)
{
    const char *const fields[] = {"mean", "logvar", "logits", "log_c0"};
    const model_spec spec = spec_of(&flavours[3], NPAGG_OBJECTIVE_ML);
    model_call *f = model_call_ragged(ctx, &spec, 64, 1);
    char name[64];
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "prior.%s", fields[i]);
        TEST_ASSERT_EQUAL_INT64(npagg_model_param_offset(f->model, "prior") +
                                    npagg_prior_param_offset(f->parts.prior, fields[i]),
                                npagg_model_param_offset(f->model, name));
    }
    TEST_ASSERT_EQUAL_INT64(npagg_encoder_param_offset(f->parts.encoder, "var.1.bias"),
                            npagg_model_param_offset(f->model, "encoder.var.1.bias"));
    TEST_ASSERT_EQUAL_INT64(npagg_model_param_offset(f->model, "decoder") +
                                npagg_decoder_param_offset(f->parts.decoder, "sd.1.weight"),
                            npagg_model_param_offset(f->model, "decoder.sd.1.weight"));
    model_call_destroy(f);
}

static void test_unknown_names_and_numbers_find_nothing(void)
{
    const model_spec spec = spec_of(&flavours[0], NPAGG_OBJECTIVE_ML);
    model_call *f = model_call_ragged(ctx, &spec, 64, 1);
    const char *const names[] = {
        "", "enc", "encoder.", "prior.logits", "mean", "decoder.sd.9.bias"};
    const int64_t n = npagg_model_tensor_count(f->model), outside[] = {-1, n, INT64_MAX, INT64_MIN};
    int64_t a = 5, b = 6, c = 7;
    for (int i = 0; i < 6; i++) {
        TEST_ASSERT_EQUAL_INT64(-1, npagg_model_param_offset(f->model, names[i]));
        TEST_ASSERT_EQUAL_INT64(-1, npagg_model_size(f->model, names[i]));
    }
    for (int i = 0; i < 4; i++) {
        TEST_ASSERT_NULL(npagg_model_tensor_name(f->model, outside[i]));
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG,
                                npagg_model_tensor_shape(f->model, outside[i], &a, &b, &c));
    }
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_model_tensor_shape(f->model, 0, NULL, &b, &c));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_model_tensor_shape(f->model, 0, &a, NULL, &c));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_model_tensor_shape(f->model, 0, &a, &b, NULL));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_model_tensor_shape(NULL, 0, &a, &b, &c));
    TEST_ASSERT_TRUE(a == 5 && b == 6 && c == 7);
    model_call_destroy(f);
}

static void test_look_ups_of_no_model_find_nothing(void)
{
    const model_spec spec = spec_of(&flavours[0], NPAGG_OBJECTIVE_ML);
    model_call *f = model_call_ragged(ctx, &spec, 64, 1);
    TEST_ASSERT_EQUAL_INT64(-1, npagg_model_param_count(NULL));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_model_param_offset(NULL, "prior"));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_model_param_offset(f->model, NULL));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_model_tensor_count(NULL));
    TEST_ASSERT_NULL(npagg_model_tensor_name(NULL, 0));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_model_size(NULL, "d"));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_model_size(f->model, NULL));
    npagg_model_destroy(NULL);
    model_call_destroy(f);
}

static void test_sizes_are_those_of_the_stages(void)
{
    model_spec spec = spec_of(&flavours[2], NPAGG_OBJECTIVE_ML);
    spec.d = 5, spec.samples = 9, spec.x_dim = 2, spec.y_dim = 4;
    model_call *f = model_call_ragged(ctx, &spec, 64, 1);
    TEST_ASSERT_EQUAL_INT64(5, npagg_model_size(f->model, "d"));
    TEST_ASSERT_EQUAL_INT64(3, npagg_model_size(f->model, "k"));
    TEST_ASSERT_EQUAL_INT64(33, npagg_model_size(f->model, "q"));
    TEST_ASSERT_EQUAL_INT64(9, npagg_model_size(f->model, "samples"));
    TEST_ASSERT_EQUAL_INT64(2, npagg_model_size(f->model, "x"));
    TEST_ASSERT_EQUAL_INT64(4, npagg_model_size(f->model, "y"));
    model_call_destroy(f);
}

/* Changes every setting of the stages, then ends them. */
static void spoil(model_parts *p)
{
    ASSERT_OK(ctx, npagg_encoder_set_activation(p->encoder, NPAGG_ACTIVATION_RELU));
    ASSERT_OK(ctx, npagg_encoder_set_var_range(p->encoder, 1, 9));
    ASSERT_OK(ctx, npagg_prior_set_robust(p->prior, 0));
    ASSERT_OK(ctx, npagg_vmp_set_max_iters(p->vmp, 1));
    ASSERT_OK(ctx, npagg_decoder_set_sd_floor(p->decoder, 0.9));
    ASSERT_OK(ctx, npagg_objective_set_samples(p->objective, 1));
    ASSERT_OK(ctx, npagg_objective_set_points(p->objective, NPAGG_POINTS_ALL));
    parts_destroy(p);
    *p = (model_parts){0};
}

static void test_model_outlives_its_stages_and_their_settings(void)
{
    const model_spec spec = spec_of(&flavours[3], NPAGG_OBJECTIVE_ELBO);
    model_call *f = model_call_ragged(ctx, &spec, 64, 2), *g = model_call_ragged(ctx, &spec, 64, 2);
    spoil(&f->parts);
    model_run_once(ctx, f);
    model_run_once(ctx, g);
    ASSERT_SAME_MODEL_OUTPUTS(g, f);
    model_call_destroy(f);
    model_call_destroy(g);
}

static void test_no_vmp_is_the_default_vmp(void)
{
    model_spec spec = spec_of(&flavours[5], NPAGG_OBJECTIVE_ELBO);
    spec.sweeps = 5;
    model_call *f = model_call_ragged(ctx, &spec, 64, 3), *g = model_call_ragged(ctx, &spec, 64, 3);
    npagg_vmp_destroy(f->parts.vmp);
    f->parts.vmp = NULL;
    npagg_model_destroy(f->model);
    ASSERT_OK(ctx, create(&f->parts, &f->model));
    model_run_once(ctx, f);
    model_run_once(ctx, g);
    ASSERT_SAME_MODEL_OUTPUTS(g, f);
    model_call_destroy(f);
    model_call_destroy(g);
}

static void test_init_params_are_those_of_the_stages(void)
{
    const model_spec spec = spec_of(&flavours[3], NPAGG_OBJECTIVE_ELBO);
    model_call *f = model_call_ragged(ctx, &spec, 64, 4);
    double *got = zeros_of(f->p), *want = zeros_of(f->p), *other = zeros_of(f->p);
    ASSERT_OK(ctx, npagg_model_init_params_f64(ctx, f->model, 11, got));
    ASSERT_OK(ctx, npagg_model_init_params_f64(ctx, f->model, 12, other));
    ASSERT_OK(ctx, npagg_encoder_init_params_f64(ctx, f->parts.encoder, 11, want));
    ASSERT_OK(ctx, npagg_prior_init_params_f64(ctx, f->parts.prior, 11,
                                               want + npagg_model_param_offset(f->model, "prior")));
    ASSERT_OK(ctx,
              npagg_decoder_init_params_f64(ctx, f->parts.decoder, 11,
                                            want + npagg_model_param_offset(f->model, "decoder")));
    ASSERT_SAME_BITS(f->p * 8, want, got);
    TEST_ASSERT_TRUE(memcmp(got, other, (size_t)f->p * 8) != 0);
    free(got);
    free(want);
    free(other);
    model_call_destroy(f);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_create_without_a_stage_names_it);
    RUN_TEST(test_create_of_stages_that_do_not_fit_says_which_number);
    RUN_TEST(test_stratified_sampling_wants_a_sample_per_component);
    RUN_TEST(test_closed_divergence_of_a_mixture_is_not_supported);
    RUN_TEST(test_elbo_closed_of_iterated_inference_is_not_supported);
    RUN_TEST(test_samples_beyond_memory_are_refused);
    RUN_TEST(test_parameter_counts_are_those_of_the_paper);
    RUN_TEST(test_tensors_cover_the_parameters_without_gaps);
    RUN_TEST(test_tensors_have_the_names_and_places_of_their_stages);
    RUN_TEST(test_unknown_names_and_numbers_find_nothing);
    RUN_TEST(test_look_ups_of_no_model_find_nothing);
    RUN_TEST(test_sizes_are_those_of_the_stages);
    RUN_TEST(test_model_outlives_its_stages_and_their_settings);
    RUN_TEST(test_no_vmp_is_the_default_vmp);
    RUN_TEST(test_init_params_are_those_of_the_stages);
    return UNITY_END();
}
