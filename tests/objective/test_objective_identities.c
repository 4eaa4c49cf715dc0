/* Identities between objectives: one number by two roads that share as little as possible. */
#include <math.h>
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

enum { TASKS = 4 };
static const int64_t sizes[TASKS] = {30, 5, 9, 2}, n_ctx[TASKS] = {11, 0, 9, 1};

static model_spec sized_spec(const flavour *prior, int32_t objective, int64_t d)
{
    model_spec spec = spec_of(prior, objective);
    spec.d = d;
    spec.points = NPAGG_POINTS_TARGET;
    spec.normalise = NPAGG_NORMALISE_NONE;
    return spec;
}

static double *losses(const model_spec *spec, uint64_t seed)
{
    model_call *f = model_call_create(ctx, spec, 64, seed, TASKS, sizes, n_ctx);
    ASSERT_OK(ctx, model_forward(ctx, f, NULL));
    double *loss = copy_of_numbers(TASKS, f->loss);
    model_call_destroy(f);
    return loss;
}

/* Posteriors and evidences of the contexts and of whole tasks. */
typedef struct {
    model_call *f;
    double *q_c, *q_ct, logz_c[TASKS], logz_ct[TASKS];
} posteriors;

static void infer_prefixes(model_call *f, const int64_t *counts, double *q, double *logz)
{
    const double *prior = (double *)f->params + npagg_model_param_offset(f->model, "prior");
    double *m = zeros_of(f->n * f->d), *v = zeros_of(f->n * f->d);
    ASSERT_OK(ctx, npagg_encoder_forward_f64(ctx, f->parts.encoder, f->params, TASKS, f->offsets,
                                             f->x, f->y, m, v, NULL));
    for (int64_t b = 0; b < TASKS; b++) {
        const int64_t one[2] = {0, counts[b]}, at = f->offsets[b] * f->d;
        ASSERT_OK(ctx, npagg_infer_forward_f64(ctx, f->parts.prior, f->parts.vmp, prior, 1, one,
                                               m + at, v + at, NULL, q + b * f->q, logz + b, NULL));
    }
    free(m);
    free(v);
}

static posteriors infer(const model_spec *spec, uint64_t seed)
{
    posteriors r = {.f = model_call_create(ctx, spec, 64, seed, TASKS, sizes, n_ctx)};
    r.q_c = zeros_of(TASKS * r.f->q);
    r.q_ct = zeros_of(TASKS * r.f->q);
    infer_prefixes(r.f, n_ctx, r.q_c, r.logz_c);
    infer_prefixes(r.f, sizes, r.q_ct, r.logz_ct);
    return r;
}

static void posteriors_end(posteriors *r)
{
    model_call_destroy(r->f);
    free(r->q_c);
    free(r->q_ct);
}

static void test_gaussian_elbo_by_evidences_is_the_elbo_by_the_gaussian_divergence(void)
{
    const int64_t dims[] = {1, 2, 7, 40};
    for (int i = 0; i < 4; i++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            model_spec spec = sized_spec(&flavours[0], NPAGG_OBJECTIVE_ELBO, dims[i]);
            double *one = losses(&spec, seed);
            spec.objective = NPAGG_OBJECTIVE_ELBO_CLOSED;
            double *two = losses(&spec, seed);
            posteriors r = infer(&spec, seed);
            for (int b = 0; b < TASKS; b++)
                ASSERT_CLOSE(one[b], two[b], 0, 1e-10 * fabs(r.logz_ct[b]));
            posteriors_end(&r);
            free(one);
            free(two);
        }
}

static void test_mixture_elbo_is_elbo_closed(void)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        model_spec spec = sized_spec(&flavours[2], NPAGG_OBJECTIVE_ELBO, 7);
        double *one = losses(&spec, seed);
        spec.objective = NPAGG_OBJECTIVE_ELBO_CLOSED;
        double *two = losses(&spec, seed);
        ASSERT_SAME_BITS(TASKS * 8, one, two);
        free(one);
        free(two);
    }
}

/* log of a mixture's density at z [D]. */
static double log_density(const model_call *f, const double *q, const double *z)
{
    const double *mean = q, *var = q + f->k * f->d, *logw = var + f->k * f->d;
    double sum = 0;
    for (int64_t k = 0; k < f->k; k++) {
        double l = f->k > 1 ? logw[k] : 0;
        for (int64_t j = k * f->d; j < (k + 1) * f->d; j++) {
            const double e = z[j % f->d] - mean[j];
            l -= 0.5 * (log(2 * acos(-1) * var[j]) + e * e / var[j]);
        }
        sum += exp(l);
    }
    return log(sum);
}

/* The matched upper bound of the divergence, sum_k w_k (log w_k/w'_k + KL_k). */
static double matched_bound(const model_call *f, const double *q, const double *p)
{
    const int64_t kd = f->k * f->d;
    double sum = 0;
    for (int64_t k = 0; k < f->k; k++) {
        double kl = f->k > 1 ? q[2 * kd + k] - p[2 * kd + k] : 0;
        for (int64_t j = k * f->d; j < (k + 1) * f->d; j++) {
            const double e = q[j] - p[j], v = q[kd + j], u = p[kd + j];
            kl += 0.5 * (log(u / v) + (v + e * e) / u - 1);
        }
        sum += kl * (f->k > 1 ? exp(q[2 * kd + k]) : 1);
    }
    return sum;
}

/* The divergence that the model's elbo has: against that with the matched bound. */
static void model_divergences(const model_spec *spec, uint64_t seed, const posteriors *r,
                              double *kl)
{
    model_spec matched = *spec;
    matched.kl = NPAGG_KL_MATCHED;
    double *one = losses(spec, seed), *two = losses(&matched, seed);
    for (int b = 0; b < TASKS; b++)
        kl[b] = one[b] - two[b] + matched_bound(r->f, r->q_ct + b * r->f->q, r->q_c + b * r->f->q);
    free(one);
    free(two);
}

/* Trapezoids over [-20, 20]: of smooth functions that vanish at both ends, exact to rounding. */
static double quadrature(const model_call *f, const double *q, const double *p)
{
    const int n = 200000;
    double sum = 0;
    for (int i = 0; i <= n; i++) {
        const double z = -20 + 40.0 * i / n, l = log_density(f, q, &z);
        if (l > -200)
            sum += exp(l) * (l - log_density(f, p, &z));
    }
    return sum * 40 / n;
}

static void test_mixture_elbo_has_the_divergence_of_quadrature(void)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        const model_spec spec = sized_spec(&flavours[2], NPAGG_OBJECTIVE_ELBO, 1);
        posteriors r = infer(&spec, seed);
        double kl[TASKS];
        model_divergences(&spec, seed, &r, kl);
        for (int b = 0; b < TASKS; b++)
            ASSERT_CLOSE(quadrature(r.f, r.q_ct + b * r.f->q, r.q_c + b * r.f->q), kl[b], 0,
                         1e-10 * (1 + fabs(r.logz_ct[b])));
        posteriors_end(&r);
    }
}

/* Draws z ~ q in plain loops. */
static void draw_point(const model_call *f, const double *q, test_rng *rng, double *z)
{
    const double *logw = q + 2 * f->k * f->d;
    double u = rng_uniform(rng, 0, 1);
    int64_t k = 0;
    while (k < f->k - 1 && (u -= exp(logw[k])) > 0)
        k++;
    for (int64_t j = 0; j < f->d; j++)
        z[j] = q[k * f->d + j] + sqrt(q[(f->k + k) * f->d + j]) * rng_normal(rng);
}

static void test_mixture_elbo_has_the_divergence_of_plain_draws(void)
{
    const int n = 20000;
    double kl[TASKS], z[5];
    const model_spec spec = sized_spec(&flavours[2], NPAGG_OBJECTIVE_ELBO, 5);
    posteriors r = infer(&spec, 4);
    test_rng rng = {4};
    model_divergences(&spec, 4, &r, kl);
    for (int b = 0; b < TASKS; b++) {
        const double *q = r.q_ct + b * r.f->q, *p = r.q_c + b * r.f->q;
        double sum = 0, squares = 0;
        for (int i = 0; i < n; i++) {
            draw_point(r.f, q, &rng, z);
            const double l = log_density(r.f, q, z) - log_density(r.f, p, z);
            sum += l;
            squares += l * l;
        }
        const double mean = sum / n, error = sqrt(fmax(0, squares / n - mean * mean) / n);
        ASSERT_CLOSE(mean, kl[b], 0, 4 * error + 1e-9);
    }
    posteriors_end(&r);
}

/* S = 1: the logarithm of one term. */
static void test_iwae_of_one_sample_is_the_elbo_with_the_sampled_divergence(void)
{
    for (int i = 0; i < FLAVOURS; i++) {
        model_spec spec = sized_spec(&flavours[i], NPAGG_OBJECTIVE_IWAE, 3);
        spec.samples = 1;
        spec.sampling = NPAGG_SAMPLE_CHOSEN;
        double *iwae = losses(&spec, 6);
        spec.objective = NPAGG_OBJECTIVE_ELBO;
        spec.kl = NPAGG_KL_SAMPLED;
        double *elbo = losses(&spec, 6);
        for (int b = 0; b < TASKS; b++)
            ASSERT_CLOSE(elbo[b], iwae[b], 1e-12, 1e-12);
        free(iwae);
        free(elbo);
    }
}

/* Jensen's inequality holds for every draw, so also in expectation. */
static void test_iwae_is_never_below_the_elbo_of_the_same_samples(void)
{
    for (int i = 0; i < FLAVOURS; i++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            model_spec spec = sized_spec(&flavours[i], NPAGG_OBJECTIVE_IWAE, 3);
            spec.samples = 6;
            double *iwae = losses(&spec, seed);
            spec.objective = NPAGG_OBJECTIVE_ELBO;
            spec.kl = NPAGG_KL_SAMPLED;
            double *elbo = losses(&spec, seed);
            for (int b = 0; b < TASKS; b++)
                TEST_ASSERT_TRUE(iwae[b] <= elbo[b] + 1e-12);
            free(iwae);
            free(elbo);
        }
}

static void test_matched_divergence_is_an_upper_bound(void)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        model_spec spec = sized_spec(&flavours[2], NPAGG_OBJECTIVE_ELBO, 3);
        double *exact = losses(&spec, seed);
        spec.kl = NPAGG_KL_MATCHED;
        double *bound = losses(&spec, seed);
        for (int b = 0; b < TASKS; b++)
            TEST_ASSERT_TRUE(exact[b] <= bound[b] + 1e-12);
        free(exact);
        free(bound);
    }
}

static void test_normalised_loss_is_the_loss_over_the_number_of_points(void)
{
    for (int32_t objective = 0; objective < 4; objective++)
        for (int32_t points = 0; points < 2; points++) {
            model_spec spec = sized_spec(&flavours[0], objective, 3);
            spec.points = points;
            double *whole = losses(&spec, 8);
            spec.normalise = NPAGG_NORMALISE_POINTS;
            double *each = losses(&spec, 8);
            for (int b = 0; b < TASKS; b++) {
                const int64_t n = sizes[b] - (points == NPAGG_POINTS_ALL ? 0 : n_ctx[b]);
                ASSERT_CLOSE(whole[b], each[b] * (double)(n > 0 ? n : 1), 1e-14, 1e-15);
            }
            free(whole);
            free(each);
        }
}

/* Confident factors: log Z is beyond 1e5, where a float knows it to 0.008 only. */
static double confident_loss(const flavour *prior, int precision)
{
    const int64_t size = 150, context = 100;
    const model_spec spec = sized_spec(prior, NPAGG_OBJECTIVE_ELBO_CLOSED, 100);
    model_call *f = model_call_create(ctx, &spec, precision, 9, 1, &size, &context);
    const int64_t bias = npagg_model_param_offset(f->model, "encoder.var.1.bias");
    for (int64_t j = 0; j < f->d; j++)
        model_put(f, f->params, bias + j, -5);
    ASSERT_OK(ctx, model_forward(ctx, f, NULL));
    const double loss = model_get(f, f->loss, 0);
    model_call_destroy(f);
    return loss;
}

static void test_f32_divergence_by_evidences_does_not_lose_their_digits(void)
{
    for (int i = 0; i < 3; i += 2) {
        const double want = confident_loss(&flavours[i], 64),
                     got = confident_loss(&flavours[i], 32);
        ASSERT_CLOSE(want, got, 1e-6, 0);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_gaussian_elbo_by_evidences_is_the_elbo_by_the_gaussian_divergence);
    RUN_TEST(test_mixture_elbo_is_elbo_closed);
    RUN_TEST(test_mixture_elbo_has_the_divergence_of_quadrature);
    RUN_TEST(test_mixture_elbo_has_the_divergence_of_plain_draws);
    RUN_TEST(test_iwae_of_one_sample_is_the_elbo_with_the_sampled_divergence);
    RUN_TEST(test_iwae_is_never_below_the_elbo_of_the_same_samples);
    RUN_TEST(test_matched_divergence_is_an_upper_bound);
    RUN_TEST(test_f32_divergence_by_evidences_does_not_lose_their_digits);
    RUN_TEST(test_normalised_loss_is_the_loss_over_the_number_of_points);
    return UNITY_END();
}
