/* Densities, divergences, moments and entropies against quadrature and textbook forms. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "posterior_call.h"

static npagg_ctx *ctx;
static test_rng rng;

void setUp(void)
{
    rng.state = 1;
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
    ctx = NULL;
}

/* The density of a mixture as the textbook has it. */
static double naive_density(int64_t d, int64_t k, const double *q, const double *z)
{
    double sum = 0;
    for (int64_t c = 0; c < k; c++) {
        double product = k == 1 ? 1 : exp(q[2 * k * d + c]);
        for (int64_t j = 0; j < d; j++) {
            const double x = z[j] - q[c * d + j], v = q[k * d + c * d + j];
            product *= exp(-0.5 * x * x / v) / sqrt(6.283185307179586477 * v);
        }
        sum += product;
    }
    return sum;
}

static void test_posterior_logpdf_is_the_logarithm_of_the_density(void)
{
    for (int64_t d = 1; d <= 6; d++)
        for (int64_t k = 1; k <= 5; k++) {
            posterior_call *f = call_create(ctx, &rng, MIXTURE, d, k, 3, 4, 64);
            ASSERT_OK(ctx, call_forward(ctx, f, OP_LOGPDF));
            for (int64_t i = 0; i < 12; i++) {
                const double *q = (double *)f->q + i / 4 * f->count, *z = (double *)f->z + i * d;
                const double w = k == 1 ? exp(q[2 * d]) : 1;
                ASSERT_CLOSE(log(w * naive_density(d, k, q, z)), ((double *)f->sample)[i], 1e-13,
                             1e-13);
            }
            call_destroy(f);
        }
}

enum { POINTS = 20001 };
static const double reach =
    25; /* the trapezoidal rule over -reach .. reach; q is about 0 outside */

static double point_at(int64_t i)
{
    return -reach + 2 * reach * (double)i / (POINTS - 1);
}

static double integral(const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < POINTS; i++)
        sum += y[i];
    return sum * 2 * reach / (POINTS - 1);
}

/* log of one of the densities of f, D = 1 and one set, at every point. */
static double *log_densities(const posterior_call *f, void *q)
{
    double *z = malloc(POINTS * sizeof *z), *logq = malloc(POINTS * sizeof *logq);
    TEST_ASSERT_TRUE(z && logq);
    for (int64_t i = 0; i < POINTS; i++)
        z[i] = point_at(i);
    ASSERT_OK(ctx, npagg_posterior_logpdf_f64(ctx, f->prior, 1, POINTS, q, z, logq));
    free(z);
    return logq;
}

static void test_posterior_density_integrates_to_one(void)
{
    for (int64_t k = 1; k <= 6; k++) {
        posterior_call *f = call_create(ctx, &rng, MIXTURE, 1, k, 1, 1, 64);
        double *y = log_densities(f, f->q);
        double weight = 0;
        for (int64_t c = 0; c < k; c++)
            weight += exp(((double *)f->q)[2 * k + c]);
        for (int64_t i = 0; i < POINTS; i++)
            y[i] = exp(y[i]);
        ASSERT_CLOSE(weight, integral(y), 1e-12, 0);
        free(y);
        call_destroy(f);
    }
}

static double quadrature_kl(const posterior_call *f)
{
    double *q = log_densities(f, f->q), *p = log_densities(f, f->p);
    for (int64_t i = 0; i < POINTS; i++)
        q[i] = exp(q[i]) * (q[i] - p[i]);
    const double kl = integral(q);
    free(q);
    free(p);
    return kl;
}

static void test_posterior_closed_kl_is_the_integral(void)
{
    for (int i = 0; i < 20; i++) {
        posterior_call *f = call_create(ctx, &rng, i % 2 ? STUDENT : GAUSSIAN, 1, 1, 1, 1, 64);
        ASSERT_OK(ctx, call_forward(ctx, f, OP_KL_CLOSED));
        ASSERT_CLOSE(quadrature_kl(f), *(double *)f->set, 1e-10, 1e-12);
        call_destroy(f);
    }
}

static void test_posterior_closed_kl_adds_over_dimensions_and_is_matched(void)
{
    posterior_call *f = call_create(ctx, &rng, GAUSSIAN, 9, 1, 1, 1, 64);
    const double *q = f->q, *p = f->p;
    double want = 0;
    for (int64_t j = 0; j < 9; j++)
        want += 0.5 * (log(p[9 + j] / q[9 + j]) - 1 +
                       (q[9 + j] + (q[j] - p[j]) * (q[j] - p[j])) / p[9 + j]);
    ASSERT_OK(ctx, call_forward(ctx, f, OP_KL_CLOSED));
    ASSERT_CLOSE(want, *(double *)f->set, 1e-13, 0);
    ASSERT_OK(ctx, call_forward(ctx, f, OP_KL_MATCHED));
    ASSERT_CLOSE(want, *(double *)f->set, 1e-13, 0);
    call_destroy(f);
}

static void test_posterior_matched_kl_is_never_below_the_true_one(void)
{
    for (int i = 0; i < 30; i++) {
        posterior_call *f = call_create(ctx, &rng, MIXTURE, 1, 1 + i % 5, 1, 1, 64);
        const int64_t k = f->k;
        if (k == 1) /* its single weight is 1 */
            ((double *)f->q)[2] = ((double *)f->p)[2] = 0;
        ASSERT_OK(ctx, call_forward(ctx, f, OP_KL_MATCHED));
        const double truth = quadrature_kl(f), got = *(double *)f->set;
        TEST_ASSERT_TRUE(got >= truth - 1e-11);
        TEST_ASSERT_TRUE(truth >= 0);
        call_destroy(f);
    }
}

static void test_posterior_kl_of_equal_posteriors_is_exactly_zero(void)
{
    for (int i = 0; i < 8; i++) {
        posterior_call *f =
            call_create(ctx, &rng, i % 2 ? MIXTURE : GAUSSIAN, 67, 4, 2, 5, i < 4 ? 32 : 64);
        posterior_call same = *f;
        same.p = same.q;
        for (int op = OP_KL_CLOSED; op <= OP_KL_MATCHED; op++) {
            if (call_lacks(f, op))
                continue;
            ASSERT_OK(ctx, call_forward(ctx, &same, op));
            ASSERT_CLOSE(0, call_get(f, f->set, 0), 0, 0);
            ASSERT_CLOSE(0, call_get(f, f->set, 1), 0, 0);
        }
        call_destroy(f);
    }
}

/* Posteriors that differ in the tenth digit: the plain form would have lost all digits. */
static void test_posterior_closed_kl_of_near_posteriors_keeps_its_digits(void)
{
    posterior_call *f = call_create(ctx, &rng, GAUSSIAN, 3, 1, 1, 1, 64);
    double *q = f->q, *p = f->p, want = 0;
    for (int64_t j = 0; j < 3; j++) {
        q[j] = p[j] = 100;
        q[j] += 0x1p-13;
        p[3 + j] = 1;
        q[3 + j] = 1 + 0x1p-13;
        want += 0.5 * (0x1p-26 + 0x1p-27 - 0x1p-39 / 3);
    }
    ASSERT_OK(ctx, call_forward(ctx, f, OP_KL_CLOSED));
    ASSERT_CLOSE(want, *(double *)f->set, 1e-7, 0);
    call_destroy(f);
}

/* 1e-300 / 1e300 is 0 in double; its logarithm is not. */
static void test_posterior_closed_kl_of_variances_far_apart_is_exact(void)
{
    posterior_call *f = call_create(ctx, &rng, GAUSSIAN, 2, 1, 1, 1, 64);
    double *q = f->q, *p = f->p;
    for (int64_t j = 0; j < 2; j++) {
        q[j] = p[j] = 1;
        q[2 + j] = 1e-300;
        p[2 + j] = 1e300;
    }
    ASSERT_OK(ctx, call_forward(ctx, f, OP_KL_CLOSED));
    ASSERT_CLOSE(600 * log(10.0) - 1, *(double *)f->set, 1e-14, 0);
    call_destroy(f);
}

static void test_posterior_moments_are_those_of_the_enumeration(void)
{
    for (int64_t k = 1; k <= 5; k++) {
        posterior_call *f = call_create(ctx, &rng, MIXTURE, 3, k, 2, 1, 64);
        ASSERT_OK(ctx, call_forward(ctx, f, OP_MOMENTS));
        for (int64_t i = 0; i < 6; i++) {
            const double *q = (double *)f->q + i / 3 * f->count;
            double first = 0, second = 0;
            for (int64_t c = 0; c < k; c++) {
                const double w = k == 1 ? 1 : exp(q[6 * k + c]), m = q[3 * c + i % 3];
                first += w * m;
                second += w * (m * m + q[3 * k + 3 * c + i % 3]);
            }
            ASSERT_CLOSE(first, ((double *)f->mean)[i], 1e-13, 1e-14);
            ASSERT_CLOSE(second - first * first, ((double *)f->var)[i], 1e-12, 0);
        }
        call_destroy(f);
    }
}

static void test_posterior_moments_are_the_integrals(void)
{
    posterior_call *f = call_create(ctx, &rng, MIXTURE, 1, 4, 1, 1, 64);
    double *y = log_densities(f, f->q), *x = malloc(POINTS * sizeof *x);
    TEST_ASSERT_NOT_NULL(x);
    ASSERT_OK(ctx, call_forward(ctx, f, OP_MOMENTS));
    for (int64_t i = 0; i < POINTS; i++)
        x[i] = exp(y[i]) * point_at(i);
    const double mean = integral(x);
    for (int64_t i = 0; i < POINTS; i++)
        x[i] = exp(y[i]) * (point_at(i) - mean) * (point_at(i) - mean);
    ASSERT_CLOSE(mean, *(double *)f->mean, 1e-11, 1e-12);
    ASSERT_CLOSE(integral(x), *(double *)f->var, 1e-11, 0);
    free(x);
    free(y);
    call_destroy(f);
}

static void test_posterior_moments_may_be_asked_for_one_by_one(void)
{
    posterior_call *f = call_create(ctx, &rng, MIXTURE, 3, 2, 2, 1, 64), some = *f;
    some.mean = NULL;
    ASSERT_OK(ctx, call_forward(ctx, &some, OP_MOMENTS));
    some.mean = f->mean;
    some.var = NULL;
    ASSERT_OK(ctx, call_forward(ctx, &some, OP_MOMENTS));
    call_destroy(f);
}

static void test_posterior_entropy_of_one_component_is_the_integral(void)
{
    posterior_call *f = call_create(ctx, &rng, GAUSSIAN, 1, 1, 1, 0, 64), bare = *f;
    double *y = log_densities(f, f->q);
    bare.z = bare.logw = NULL;
    ASSERT_OK(ctx, call_forward(ctx, &bare, OP_ENTROPY));
    for (int64_t i = 0; i < POINTS; i++)
        y[i] = -exp(y[i]) * y[i];
    ASSERT_CLOSE(integral(y), *(double *)f->set, 1e-11, 0);
    free(y);
    call_destroy(f);
}

/* Points of a fine grid with weights q(z) dz are as good as samples: the integral of -q log q. */
static void test_posterior_entropy_and_sampled_kl_over_a_grid_are_the_integrals(void)
{
    posterior_call *f = call_create(ctx, &rng, MIXTURE, 1, 3, 1, 1, 64);
    double *logw = log_densities(f, f->q), *y = log_densities(f, f->q);
    double *z = malloc(POINTS * sizeof *z), got[2];
    TEST_ASSERT_NOT_NULL(z);
    for (int64_t i = 0; i < POINTS; i++) {
        z[i] = point_at(i);
        logw[i] += log(2 * reach / (POINTS - 1));
        y[i] = -exp(y[i]) * y[i];
    }
    ASSERT_OK(ctx, npagg_posterior_entropy_f64(ctx, f->prior, 1, POINTS, f->q, z, logw, got));
    ASSERT_OK(ctx, npagg_posterior_kl_f64(ctx, f->prior, NPAGG_KL_SAMPLED, 1, POINTS, f->q, f->p, z,
                                          logw, got + 1));
    ASSERT_CLOSE(integral(y), got[0], 1e-11, 0);
    ASSERT_CLOSE(quadrature_kl(f), got[1], 1e-10, 1e-12);
    free(z);
    free(y);
    free(logw);
    call_destroy(f);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_posterior_logpdf_is_the_logarithm_of_the_density);
    RUN_TEST(test_posterior_density_integrates_to_one);
    RUN_TEST(test_posterior_closed_kl_is_the_integral);
    RUN_TEST(test_posterior_closed_kl_adds_over_dimensions_and_is_matched);
    RUN_TEST(test_posterior_matched_kl_is_never_below_the_true_one);
    RUN_TEST(test_posterior_kl_of_equal_posteriors_is_exactly_zero);
    RUN_TEST(test_posterior_closed_kl_of_near_posteriors_keeps_its_digits);
    RUN_TEST(test_posterior_closed_kl_of_variances_far_apart_is_exact);
    RUN_TEST(test_posterior_moments_are_those_of_the_enumeration);
    RUN_TEST(test_posterior_moments_are_the_integrals);
    RUN_TEST(test_posterior_moments_may_be_asked_for_one_by_one);
    RUN_TEST(test_posterior_entropy_of_one_component_is_the_integral);
    RUN_TEST(test_posterior_entropy_and_sampled_kl_over_a_grid_are_the_integrals);
    return UNITY_END();
}
