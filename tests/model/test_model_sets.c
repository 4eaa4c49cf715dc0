/* Models whose encoder gives the posterior: what they are made of, and what they refuse. That they
 * compute what their stages do, with the right gradient, is with those of all models. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "model_call.h"
#include "numbers.h"
#include "prediction.h"

static npagg_ctx *ctx;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

static void refuse(const model_parts *p, npagg_status status, const char *text)
{
    npagg_model *const unmade = (npagg_model *)&ctx, *out = unmade;
    ASSERT_FAILS(
        ctx, status, text,
        npagg_model_create(ctx, p->encoder, p->prior, p->vmp, p->decoder, p->objective, &out));
    TEST_ASSERT_EQUAL_PTR(unmade, out);
}

static void test_create_wants_a_prior_where_there_is_no_posterior_and_only_there(void)
{
    const model_spec of_points = spec_of(&flavours[0], NPAGG_OBJECTIVE_ELBO);
    model_parts points = parts_create(ctx, &of_points);
    for (int i = FLAVOURS; i < MODEL_FLAVOURS; i++) {
        const model_spec of_sets = spec_of(&flavours[i], NPAGG_OBJECTIVE_ELBO);
        model_parts sets = parts_create(ctx, &of_sets), bad = sets;
        bad.prior = points.prior;
        refuse(&bad, NPAGG_E_ARG, "prior is given, want NULL with an encoder of sets");
        bad = sets, bad.vmp = points.vmp;
        refuse(&bad, NPAGG_E_ARG, "vmp is given, want NULL with an encoder of sets");
        bad = points, bad.prior = NULL;
        refuse(&bad, NPAGG_E_ARG, "prior is NULL, an encoder of points wants one");
        parts_destroy(&sets);
    }
    parts_destroy(&points);
}

static void test_create_of_sizes_that_do_not_fit_names_them(void)
{
    model_spec spec = spec_of(&flavours[6], NPAGG_OBJECTIVE_ELBO), wide = spec;
    wide.d = 7;
    model_parts parts = parts_create(ctx, &spec), other = parts_create(ctx, &wide), bad = parts;
    bad.decoder = other.decoder;
    refuse(&bad, NPAGG_E_ARG, "decoder d = 7, want 2 as the encoder");
    parts_destroy(&parts);
    parts_destroy(&other);
}

static void test_elbo_closed_without_a_prior_is_not_supported(void)
{
    const model_spec spec = spec_of(&flavours[7], NPAGG_OBJECTIVE_ELBO_CLOSED);
    model_parts parts = parts_create(ctx, &spec);
    refuse(&parts, NPAGG_E_UNSUP, "elbo_closed wants a gaussian or mixture prior");
    parts_destroy(&parts);
}

static void test_sizes_are_those_of_one_gaussian(void)
{
    for (int i = FLAVOURS; i < MODEL_FLAVOURS; i++) {
        model_spec spec = spec_of(&flavours[i], NPAGG_OBJECTIVE_IWAE);
        spec.d = 5;
        model_call *f = model_call_ragged(ctx, &spec, 64, 1);
        TEST_ASSERT_EQUAL_INT64(5, npagg_model_size(f->model, "d"));
        TEST_ASSERT_EQUAL_INT64(1, npagg_model_size(f->model, "k"));
        TEST_ASSERT_EQUAL_INT64(10, npagg_model_size(f->model, "q"));
        TEST_ASSERT_EQUAL_INT64(-1, npagg_model_param_offset(f->model, "prior"));
        TEST_ASSERT_EQUAL_INT64(-1, npagg_model_param_offset(f->model, "prior.mean"));
        TEST_ASSERT_EQUAL_INT64(npagg_encoder_param_count(f->parts.encoder),
                                npagg_model_param_offset(f->model, "decoder"));
        model_call_destroy(f);
    }
}

static void test_initial_params_are_those_of_both_networks(void)
{
    const model_spec spec = spec_of(&flavours[7], NPAGG_OBJECTIVE_ML);
    model_call *f = model_call_ragged(ctx, &spec, 64, 1);
    double *want = zeros_of(f->p), *got = zeros_of(f->p);
    const int64_t at = npagg_model_param_offset(f->model, "decoder");
    ASSERT_OK(ctx, npagg_encoder_init_params_f64(ctx, f->parts.encoder, 9, want));
    ASSERT_OK(ctx, npagg_decoder_init_params_f64(ctx, f->parts.decoder, 9, want + at));
    ASSERT_OK(ctx, npagg_model_init_params_f64(ctx, f->model, 9, got));
    ASSERT_SAME_BITS(f->p * 8, want, got);
    free(want);
    free(got);
    model_call_destroy(f);
}

static void test_choosing_a_component_finds_the_only_one(void)
{
    const model_spec spec = spec_of(&flavours[6], NPAGG_OBJECTIVE_ML);
    model_call *f = model_call_ragged(ctx, &spec, 64, 1);
    const double q[4] = {0, 1, 2, 3}, u[3] = {0, 0.5, 0.99};
    int32_t which[3] = {7, 7, 7};
    ASSERT_OK(ctx, npagg_model_choose_f64(ctx, f->model, 1, 3, q, u, which));
    TEST_ASSERT_TRUE(which[0] == 0 && which[1] == 0 && which[2] == 0);
    model_call_destroy(f);
}

/* Finite parameters whose products are not: the encoder's numbers are named, nothing is written. */
static void overflow(const flavour *kind)
{
    const model_spec spec = spec_of(kind, NPAGG_OBJECTIVE_IWAE);
    model_call *f = model_call_ragged(ctx, &spec, 32, 3);
    prediction *p = prediction_create(f);
    const int64_t last = npagg_model_param_offset(f->model, "encoder.mean.0.weight");
    const int64_t joint = npagg_model_param_offset(f->model, "encoder.joint.0.bias");
    for (int64_t i = 0; i < 3; i++)
        model_put(f, f->params, joint + i, 3e38);
    for (int64_t i = 0; i < 6; i++)
        model_put(f, f->params, last + i, 3e38);
    model_poison(f);
    prediction_poison(p);
    ASSERT_FAILS(ctx, NPAGG_E_NUMERIC, "m of the encoder[0,0]", model_step(ctx, f));
    ASSERT_FAILS(ctx, NPAGG_E_NUMERIC, "m of the encoder[0,0]", prediction_infer(ctx, p));
    ASSERT_FAILS(ctx, NPAGG_E_NUMERIC, "m of the encoder[0,0]", prediction_predict(ctx, p));
    ASSERT_MODEL_UNTOUCHED(f);
    ASSERT_PREDICTION_UNTOUCHED(p);
    prediction_destroy(p);
    model_call_destroy(f);
}

static void test_an_encoder_that_overflows_is_refused_with_its_number(void)
{
    overflow(&flavours[6]);
    overflow(&flavours[7]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_create_wants_a_prior_where_there_is_no_posterior_and_only_there);
    RUN_TEST(test_create_of_sizes_that_do_not_fit_names_them);
    RUN_TEST(test_elbo_closed_without_a_prior_is_not_supported);
    RUN_TEST(test_sizes_are_those_of_one_gaussian);
    RUN_TEST(test_initial_params_are_those_of_both_networks);
    RUN_TEST(test_choosing_a_component_finds_the_only_one);
    RUN_TEST(test_an_encoder_that_overflows_is_refused_with_its_number);
    return UNITY_END();
}
