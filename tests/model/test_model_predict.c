/* Predictions: what the stages say, put together in plain loops. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "numbers.h"
#include "prediction.h"
#include "set_stage.h"

static npagg_ctx *ctx;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

/* The stages' own results. */
typedef struct {
    double *q, *weight, *py, *loglik; /* [B,Q], [Nc], [M,S,O], [M,S] */
} stages;

static void infer_stages(const prediction *p, stages *r)
{
    const model_call *f = p->f;
    npagg_cache *cache = NULL;
    if (is_of_sets(&f->spec)) {
        set_stage_forward(ctx, f, p->ctx_offsets, p->xc, p->yc, r->q, NULL);
        for (int64_t i = 0; i < p->n_context; i++)
            r->weight[i] = 1;
        return;
    }
    const double *prior = (double *)f->params + npagg_model_param_offset(f->model, "prior");
    double *m = zeros_of(p->n_context * f->d), *v = zeros_of(p->n_context * f->d);
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    ASSERT_OK(ctx, npagg_encoder_forward_f64(ctx, f->parts.encoder, f->params, p->n_sets,
                                             p->ctx_offsets, p->xc, p->yc, m, v, NULL));
    ASSERT_OK(ctx, npagg_infer_forward_f64(ctx, f->parts.prior, f->parts.vmp, prior, p->n_sets,
                                           p->ctx_offsets, m, v, NULL, r->q, NULL, cache));
    ASSERT_OK(ctx, npagg_infer_weights_f64(ctx, cache, r->weight));
    npagg_cache_destroy(cache);
    free(m);
    free(v);
}

static stages run_stages(const prediction *p)
{
    const model_call *f = p->f;
    const int64_t each = npagg_decoder_output_count(f->parts.decoder);
    const double *params = (double *)f->params + npagg_model_param_offset(f->model, "decoder");
    stages r = {zeros_of(p->n_sets * f->q), zeros_of(p->n_context),
                zeros_of(p->n_target * p->s * each), zeros_of(p->n_target * p->s)};
    double *z = zeros_of(p->n_sets * p->s * f->d);
    infer_stages(p, &r);
    for (int64_t i = 0; i < p->n_sets * p->s * f->d; i++) {
        const int64_t b = i / (p->s * f->d), j = i % f->d;
        const double *q = r.q + b * f->q + p->which[i / f->d] * f->d + j;
        z[i] = q[0] + sqrt(q[f->k * f->d]) * ((double *)p->noise)[i];
    }
    ASSERT_OK(ctx, npagg_decoder_forward_f64(ctx, f->parts.decoder, params, p->n_sets,
                                             p->tgt_offsets, p->s, p->xt, z, r.py, NULL));
    ASSERT_OK(ctx, npagg_decoder_loglik_f64(ctx, f->parts.decoder, p->n_target, p->s, r.py, p->yt,
                                            r.loglik));
    free(z);
    return r;
}

static void stages_end(stages *r)
{
    free(r->q);
    free(r->weight);
    free(r->py);
    free(r->loglik);
}

/* Mean and sd of y[n,j] over the mixture of samples, by first and second moments. */
static void plain_moments(const prediction *p, const double *py, int64_t n, int64_t j, double *mean,
                          double *sd)
{
    const model_call *f = p->f;
    double first = 0, second = 0;
    for (int64_t s = 0; s < p->s; s++) {
        const double *at = py + (n * p->s + s) * f->y_dim * (f->spec.bernoulli ? 1 : 2);
        const double m = f->spec.bernoulli ? 1 / (1 + exp(-at[j])) : at[j];
        const double v = f->spec.bernoulli ? m * (1 - m) : at[f->y_dim + j] * at[f->y_dim + j];
        first += m / (double)p->s;
        second += (m * m + v) / (double)p->s;
    }
    *mean = first;
    *sd = sqrt(second - first * first);
}

static void compare(const model_spec *spec)
{
    model_call *f = model_call_ragged(ctx, spec, 64, 61);
    prediction *p = prediction_create(f);
    stages r = run_stages(p);
    double mean, sd;
    prediction_run(ctx, p);
    const double *got_mean = p->mean, *got_sd = p->sd, *got_loglik = p->loglik;
    ASSERT_ALL_CLOSE(p->n_sets * f->q, r.q, p->q, 1e-14, 0);
    ASSERT_ALL_CLOSE(p->n_context, r.weight, p->weight, 1e-14, 0);
    ASSERT_ALL_CLOSE(p->n_target * p->s * npagg_decoder_output_count(f->parts.decoder), r.py,
                     p->samples, 1e-13, 0);
    for (int64_t n = 0; n < p->n_target; n++) {
        double sum = 0;
        for (int64_t j = 0; j < f->y_dim; j++) {
            plain_moments(p, r.py, n, j, &mean, &sd);
            ASSERT_CLOSE(mean, got_mean[n * f->y_dim + j], 1e-12, 1e-13);
            ASSERT_CLOSE(sd, got_sd[n * f->y_dim + j], 1e-11, 1e-13);
        }
        for (int64_t s = 0; s < p->s; s++)
            sum += exp(r.loglik[n * p->s + s]) / (double)p->s;
        ASSERT_CLOSE(log(sum), got_loglik[n], 1e-12, 1e-12);
    }
    stages_end(&r);
    prediction_destroy(p);
    model_call_destroy(f);
}

static void test_prediction_is_what_the_stages_say(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for (int bernoulli = 0; bernoulli < 2; bernoulli++)
            for (int64_t y_dim = 1; y_dim < 4; y_dim += 2) {
                model_spec spec = spec_of(&flavours[i], NPAGG_OBJECTIVE_IWAE);
                spec.bernoulli = bernoulli;
                spec.y_dim = y_dim;
                compare(&spec);
            }
}

/* Each output alone has the bits it has among the others. */
static void test_outputs_that_are_null_are_left_out(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++) {
        const model_spec spec = spec_of(&flavours[i], NPAGG_OBJECTIVE_IWAE);
        model_call *f = model_call_ragged(ctx, &spec, 32, 63);
        prediction *p = prediction_create(f), *got = prediction_create(f);
        prediction_run(ctx, p);
        ASSERT_OK(ctx, prediction_infer(ctx, got));
        for (int only = 0; only < 5; only++) {
            prediction one = *got;
            void **const outputs[] = {&one.mean, &one.sd, &one.samples, &one.loglik, &one.weight};
            for (int j = 0; j < 5; j++)
                if (j != only)
                    *outputs[j] = NULL;
            if (only != 3)
                one.yt = NULL;
            ASSERT_OK(ctx, prediction_predict(ctx, &one));
        }
        ASSERT_SAME_PREDICTIONS(p, got);
        prediction none = *got;
        none.mean = none.sd = none.samples = none.loglik = none.weight = none.yt = NULL;
        ASSERT_OK(ctx, prediction_predict(ctx, &none));
        prediction_destroy(p);
        prediction_destroy(got);
        model_call_destroy(f);
    }
}

/* The objective's likelihood from the decoder's output: log mean_s prod_t p, z ~ q_C. */
static void test_ml_loss_is_what_the_predicted_samples_say(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++) {
        model_spec spec = spec_of(&flavours[i], NPAGG_OBJECTIVE_ML);
        spec.sampling = NPAGG_SAMPLE_CHOSEN;
        model_call *f = model_call_ragged(ctx, &spec, 64, 65);
        prediction *p = prediction_create(f);
        prediction_run(ctx, p);
        ASSERT_OK(ctx, model_forward(ctx, f, NULL));
        for (int64_t b = 0; b < p->n_sets; b++) {
            double mean = 0;
            for (int64_t s = 0; s < p->s; s++) {
                double l = 0;
                for (int64_t n = p->tgt_offsets[b]; n < p->tgt_offsets[b + 1]; n++) {
                    const double *py = (double *)p->samples + (n * p->s + s) * 2;
                    const double e = (((double *)p->yt)[n] - py[0]) / py[1];
                    l -= 0.5 * log(2 * acos(-1)) + log(py[1]) + 0.5 * e * e;
                }
                mean += exp(l) / (double)p->s;
            }
            ASSERT_CLOSE(-log(mean), model_get(f, f->loss, b), 1e-12, 1e-12);
        }
        prediction_destroy(p);
        model_call_destroy(f);
    }
}

/* n_samples is the call's, not the objective's, and may be below the number of components. */
static void test_any_number_of_samples_predicts(void)
{
    const model_spec spec = spec_of(&flavours[2], NPAGG_OBJECTIVE_IWAE);
    model_call *f = model_call_ragged(ctx, &spec, 64, 67);
    prediction *p = prediction_create(f);
    for (p->s = 1; p->s <= f->s; p->s++) {
        stages r = run_stages(p);
        ASSERT_OK(ctx, prediction_predict(ctx, p));
        ASSERT_ALL_CLOSE(p->n_target * p->s * 2, r.py, p->samples, 1e-13, 0);
        stages_end(&r);
    }
    prediction_destroy(p);
    model_call_destroy(f);
}

static void predict_sets(const int64_t *sizes, const int64_t *n_ctx, int bare)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++) {
        const model_spec spec = spec_of(&flavours[i], NPAGG_OBJECTIVE_IWAE);
        model_call *f = model_call_create(ctx, &spec, 64, 69, 2, sizes, n_ctx);
        prediction *p = prediction_create(f);
        prediction q = *p;
        if (bare && p->n_context == 0)
            q.xc = q.yc = q.weight = NULL;
        if (bare && p->n_target == 0)
            q.xt = q.yt = q.mean = q.sd = q.samples = q.loglik = NULL;
        prediction_run(ctx, &q);
        for (int64_t n = 0; n < p->n_target; n++)
            TEST_ASSERT_TRUE(isfinite(((double *)p->loglik)[n]) && ((double *)p->sd)[n] > 0);
        prediction_destroy(p);
        model_call_destroy(f);
    }
}

static void test_empty_contexts_and_targets_are_fine(void)
{
    for (int bare = 0; bare < 2; bare++) {
        predict_sets((const int64_t[]){3, 4}, (const int64_t[]){0, 0}, bare);
        predict_sets((const int64_t[]){3, 4}, (const int64_t[]){3, 4}, bare);
        predict_sets((const int64_t[]){0, 0}, (const int64_t[]){0, 0}, bare);
        predict_sets((const int64_t[]){5, 0}, (const int64_t[]){1, 0}, bare);
    }
}

static void test_no_sets_predict_nothing(void)
{
    const model_spec spec = spec_of(&flavours[2], NPAGG_OBJECTIVE_IWAE);
    model_call *f = model_call_ragged(ctx, &spec, 64, 71);
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_model_predict_f64(ctx, f->model, f->params, 0, NULL,
                                                              NULL, NULL, NULL, NULL, NULL, 3, NULL,
                                                              NULL, NULL, NULL, NULL, NULL, NULL));
    ASSERT_OK(ctx, npagg_model_infer_f64(ctx, f->model, f->params, 0, NULL, NULL, NULL, NULL));
    prediction *p = prediction_create(f);
    p->n_sets = 0;
    prediction_poison(p);
    ASSERT_OK(ctx, prediction_predict(ctx, p));
    ASSERT_OK(ctx, prediction_infer(ctx, p));
    ASSERT_PREDICTION_UNTOUCHED(p);
    prediction_destroy(p);
    model_call_destroy(f);
}

static void test_predictions_have_the_same_bits_on_any_number_of_threads(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for (int32_t threads = 2; threads <= 7; threads += 5) {
            const model_spec spec = spec_of(&flavours[i], NPAGG_OBJECTIVE_IWAE);
            model_call *f = model_call_ragged(ctx, &spec, i % 2 ? 32 : 64, 73);
            prediction *want = prediction_create(f), *got = prediction_create(f);
            npagg_ctx *many = NULL;
            ASSERT_OK(NULL, npagg_ctx_create(&many));
            ASSERT_OK(many, npagg_ctx_set_threads(many, threads));
            prediction_run(ctx, want);
            prediction_run(many, got);
            ASSERT_SAME_PREDICTIONS(want, got);
            npagg_ctx_destroy(many);
            prediction_destroy(want);
            prediction_destroy(got);
            model_call_destroy(f);
        }
}

/* With m = y and v fixed, the outlier among the contexts is the one whose factor is far out. */
static void make_encoder_plain(model_call *f)
{
    double *params = f->params;
    const int64_t end = npagg_model_param_offset(f->model, "prior");
    for (int64_t i = 0; i < end; i++)
        params[i] = 0;
    const int64_t first = npagg_model_param_offset(f->model, "encoder.mean.0.weight");
    const int64_t last = npagg_model_param_offset(f->model, "encoder.mean.1.weight");
    params[first + 1] = 1e-3; /* tanh is linear here; column 1 is y */
    for (int64_t j = 0; j < f->d; j++)
        params[last + j * 3] = 1e3;
}

static void test_robust_weight_of_an_outlier_is_the_smallest(void)
{
    const int robust[] = {1, 3, 5};
    const int64_t size = 8, context = 6;
    for (int i = 0; i < 3; i++) {
        const model_spec spec = spec_of(&flavours[robust[i]], NPAGG_OBJECTIVE_IWAE);
        model_call *f = model_call_create(ctx, &spec, 64, 75, 1, &size, &context);
        make_encoder_plain(f);
        for (int64_t n = 0; n < size; n++)
            ((double *)f->y)[n] = n == 2 ? 30 : 0.1 * (double)n;
        prediction *p = prediction_create(f);
        prediction_run(ctx, p);
        const double *w = p->weight;
        for (int64_t n = 0; n < context; n++)
            TEST_ASSERT_TRUE(n == 2 || w[2] < 0.2 * w[n]);
        prediction_destroy(p);
        model_call_destroy(f);
    }
}

static void test_weights_of_gaussian_factors_are_one(void)
{
    const model_spec spec = spec_of(&flavours[2], NPAGG_OBJECTIVE_IWAE);
    model_call *f = model_call_ragged(ctx, &spec, 64, 77);
    prediction *p = prediction_create(f);
    prediction_run(ctx, p);
    for (int64_t n = 0; n < p->n_context; n++)
        TEST_ASSERT_EQUAL_DOUBLE(1, ((double *)p->weight)[n]);
    prediction_destroy(p);
    model_call_destroy(f);
}

/* What a vmp leaves out for training, a prediction still gives. */
static void test_weights_are_predicted_whatever_the_vmp_says_of_them(void)
{
    for (int i = 0; i < FLAVOURS; i++)
        for (int precision = 32; precision <= 64; precision += 32) {
            const model_spec spec = spec_of(&flavours[i], NPAGG_OBJECTIVE_IWAE);
            model_call *f = model_call_ragged(ctx, &spec, precision, 79), bare = *f;
            ASSERT_OK(ctx, npagg_vmp_set_weights(f->parts.vmp, 0));
            ASSERT_OK(ctx, npagg_model_create(ctx, f->parts.encoder, f->parts.prior, f->parts.vmp,
                                              f->parts.decoder, f->parts.objective, &bare.model));
            prediction *want = prediction_create(f), *got = prediction_create(&bare);
            prediction_run(ctx, want);
            prediction_run(ctx, got);
            ASSERT_SAME_PREDICTIONS(want, got);
            prediction_destroy(want);
            prediction_destroy(got);
            npagg_model_destroy(bare.model);
            model_call_destroy(f);
        }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_prediction_is_what_the_stages_say);
    RUN_TEST(test_outputs_that_are_null_are_left_out);
    RUN_TEST(test_ml_loss_is_what_the_predicted_samples_say);
    RUN_TEST(test_any_number_of_samples_predicts);
    RUN_TEST(test_empty_contexts_and_targets_are_fine);
    RUN_TEST(test_no_sets_predict_nothing);
    RUN_TEST(test_predictions_have_the_same_bits_on_any_number_of_threads);
    RUN_TEST(test_robust_weight_of_an_outlier_is_the_smallest);
    RUN_TEST(test_weights_of_gaussian_factors_are_one);
    RUN_TEST(test_weights_are_predicted_whatever_the_vmp_says_of_them);
    return UNITY_END();
}
