/* Settings in which one prior is another: empty sets, one component, one sweep, c0 without end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "claim.h"
#include "difference.h"

static npagg_ctx *ctx;

void setUp(void)
{
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

/* Parameters as the library exponentiates them, in the run's precision. */
static double *constrain(const problem *p, int precision)
{
    npagg_prior *prior = problem_prior(ctx, p);
    double *out = malloc((size_t)p->p * sizeof *out);
    float *narrow = malloc((size_t)p->p * sizeof *narrow);
    for (int64_t j = 0; j < p->p; j++)
        narrow[j] = (float)p->params[j];
    if (precision == 64)
        ASSERT_OK(ctx, npagg_prior_constrained_f64(ctx, prior, p->params, out));
    else
        ASSERT_OK(ctx, npagg_prior_constrained_f32(ctx, prior, narrow, narrow));
    for (int64_t j = 0; precision == 32 && j < p->p; j++)
        out[j] = narrow[j];
    free(narrow);
    npagg_prior_destroy(prior);
    return out;
}

static void check_empty_is_prior(const problem *p, const double *q, int precision)
{
    double *prior = constrain(p, precision), eps = precision == 64 ? 1e-15 : 1e-7;
    int64_t kd = p->k * p->d;
    check_same_bits(2 * kd * 8, prior, q, describe(p, "mean, var"), __LINE__);
    for (int64_t k = 0; p->kind == MIXTURE && k < p->k; k++)
        ASSERT_CLOSE(log(prior[2 * kd + k]), q[2 * kd + k], eps, 4 * eps);
    free(prior);
}

static void claim_empty_is_prior(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n,
                                 int64_t d, int precision)
{
    problem *p = draw_problem(rng, f, n, d, precision, 0);
    result *r = problem_run(c, p, precision, 1);
    check_empty_is_prior(p, r->q + 2 * p->q, precision);
    ASSERT_CLOSE(0, r->logz[2], 0, 1e-15);
    result_destroy(r);
    problem_destroy(p);
}

static void test_infer_of_an_empty_set_is_the_prior(void)
{
    claim_for_kind(ctx, 1, GAUSSIAN, claim_empty_is_prior);
    claim_for_kind(ctx, 2, MIXTURE, claim_empty_is_prior);
}

/* Variance of q(z) of an empty set after T sweeps, 1 / E[alpha] of the sweep before. */
static double empty_var(double a0, double b0, double d, int32_t sweeps)
{
    double alpha = 1;
    for (int32_t t = 1; t < sweeps; t++)
        alpha = (a0 + d / 2) / (b0 + d / 2 / alpha);
    return 1 / alpha;
}

/* A sum of D equal numbers errs by at most D/2 ulps, once a sweep. */
static double rounding_of_empty(int64_t d, int32_t sweeps)
{
    return 0x1p-53 * (double)d * sweeps;
}

static void claim_empty_student(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n, int64_t d,
                                int precision)
{
    problem *p = draw_problem(rng, f, n, d, precision, 0);
    p->max_iters = (int32_t)rng_int(rng, 1, 20);
    double eps = precision == 64 ? 1e-15 + rounding_of_empty(d, p->max_iters) : 1e-7;
    result *r = problem_run(c, p, precision, 0);
    double var = empty_var(exp(p->params[0]), exp(p->params[1]), (double)d, p->max_iters);
    for (int64_t j = 0; j < d; j++) {
        TEST_ASSERT_TRUE(r->q[2 * p->q + j] == 0);
        ASSERT_CLOSE(var, r->q[2 * p->q + d + j], eps, 0);
    }
    result_destroy(r);
    problem_destroy(p);
}

static void test_infer_of_an_empty_set_with_student_is_the_mean_of_alpha(void)
{
    claim_for_kind(ctx, 3, STUDENT, claim_empty_student);
}

static void claim_empty_standard(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n,
                                 int64_t d, int precision)
{
    problem *p = draw_problem(rng, f, n, d, precision, 0);
    p->params[1] = p->params[0];
    double eps = precision == 64 ? 1e-15 + rounding_of_empty(d, p->max_iters) : 1e-7;
    result *r = problem_run(c, p, precision, 0);
    for (int64_t j = 0; j < d; j++)
        ASSERT_CLOSE(1, r->q[2 * p->q + d + j], eps, 0);
    result_destroy(r);
    problem_destroy(p);
}

static void test_infer_of_an_empty_set_with_student_is_standard_if_a0_is_b0(void)
{
    claim_for_kind(ctx, 4, STUDENT, claim_empty_standard);
}

/* The gaussian problem as a mixture of one component; the cotangent of logw must not matter. */
static problem *as_mixture(const problem *p)
{
    int64_t d2 = 2 * p->d;
    problem *c = problem_copy(p);
    c->kind = MIXTURE;
    c->p = p->p + 1;
    c->q = p->q + 1;
    c->params = realloc(c->params, (size_t)c->p * sizeof(double));
    c->params[d2] = 0.7;
    c->params[c->p - 1] = p->robust ? p->params[p->p - 1] : 0.7;
    c->dq = realloc(c->dq, (size_t)(c->n_sets * c->q) * sizeof(double));
    for (int64_t b = 0; b < c->n_sets; b++) {
        memcpy(c->dq + b * c->q, p->dq + b * p->q, (size_t)d2 * sizeof(double));
        c->dq[b * c->q + d2] = 1.3;
    }
    return c;
}

static void check_mixture_is_gaussian(const problem *p, const result *gauss, const problem *one,
                                      const result *mix)
{
    int64_t d2 = 2 * p->d, nd = p->n * p->d * 8;
    for (int64_t b = 0; b < p->n_sets; b++) {
        check_same_bits(d2 * 8, gauss->q + b * p->q, mix->q + b * one->q, describe(p, "q"),
                        __LINE__);
        TEST_ASSERT_TRUE(mix->q[b * one->q + d2] == 0);
    }
    check_same_bits(p->n_sets * 8, gauss->logz, mix->logz, describe(p, "logz"), __LINE__);
    check_same_bits(nd, gauss->dm, mix->dm, describe(p, "dm"), __LINE__);
    check_same_bits(nd, gauss->dv, mix->dv, describe(p, "dv"), __LINE__);
    check_same_bits(p->n * 8, gauss->dweight, mix->dweight, describe(p, "dweight"), __LINE__);
    check_same_bits(d2 * 8, gauss->dparams, mix->dparams, describe(p, "dparams"), __LINE__);
    TEST_ASSERT_TRUE_MESSAGE(mix->dparams[d2] == 0, describe(p, "dlogit"));
    if (p->robust)
        check_same_bits(8, gauss->dparams + d2, mix->dparams + d2 + 1, describe(p, "dlog c0"),
                        __LINE__);
}

static void claim_one_component(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n, int64_t d,
                                int precision)
{
    problem *p = draw_problem(rng, f, n, d, precision, 1);
    p->grad = (int32_t)rng_int(rng, 0, GRAD_MODES - 1);
    problem *one = as_mixture(p);
    result *gauss = problem_run(c, p, precision, 0), *mix = problem_run(c, one, precision, 0);
    check_mixture_is_gaussian(p, gauss, one, mix);
    result_destroy(gauss);
    result_destroy(mix);
    problem_destroy(one);
    problem_destroy(p);
}

static void test_infer_with_a_mixture_of_one_is_gaussian_to_the_bit(void)
{
    claim_for_kind(ctx, 5, GAUSSIAN, claim_one_component);
}

/* The prior of a student's first sweep: N(0, I), Gaussian factors. */
static problem *as_standard_gaussian(const problem *p)
{
    problem *c = problem_copy(p);
    c->kind = GAUSSIAN;
    c->robust = 0;
    c->p = 2 * p->d;
    free(c->params);
    c->params = calloc((size_t)c->p, sizeof(double));
    return c;
}

static void claim_one_sweep_student(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n,
                                    int64_t d, int precision)
{
    problem *p = draw_problem(rng, f, n, d, precision, 1);
    p->max_iters = 1;
    problem *plain = as_standard_gaussian(p);
    result *student = problem_run(c, p, precision, 0), *gauss = problem_run(c, plain, precision, 0);
    check_posterior(p, gauss->q, student->q, precision == 64 ? 1e-15 : 1.2e-7);
    result_destroy(student);
    result_destroy(gauss);
    problem_destroy(plain);
    problem_destroy(p);
}

static void test_infer_with_student_and_one_sweep_is_bayesian_aggregation(void)
{
    claim_for_kind(ctx, 6, STUDENT, claim_one_sweep_student);
}

/* The same problem with Gaussian factors: c0, the last parameter, goes. */
static problem *without_robust(const problem *p)
{
    problem *c = problem_copy(p);
    c->robust = 0;
    c->p--;
    return c;
}

static void claim_one_sweep_robust(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n,
                                   int64_t d, int precision)
{
    if (!f->robust)
        return;
    problem *p = draw_problem(rng, f, n, d, precision, 1);
    p->max_iters = 1;
    problem *plain = without_robust(p);
    result *robust = problem_run(c, p, precision, 0), *gauss = problem_run(c, plain, precision, 0);
    check_same_bits(p->n_sets * p->q * 8, gauss->q, robust->q, describe(p, "q"), __LINE__);
    result_destroy(robust);
    result_destroy(gauss);
    problem_destroy(plain);
    problem_destroy(p);
}

static void test_infer_with_robust_factors_and_one_sweep_has_gaussian_factors(void)
{
    claim_for_all(ctx, 7, claim_one_sweep_robust);
}

static void check_limit(test_rng *rng, const flavour *f)
{
    problem *p = draw_problem(rng, f, rng_int(rng, 0, 33), rng_int(rng, 1, 9), 64, rng->state & 1);
    p->params[p->p - 1] = log(1e8);
    problem *plain = without_robust(p);
    result *robust = problem_run(ctx, p, 64, 1), *gauss = problem_run(ctx, plain, 64, 1);
    check_posterior(p, gauss->q, robust->q, 1e-6);
    check_logz(p, gauss->logz, robust->logz, 1e-6);
    result_destroy(robust);
    result_destroy(gauss);
    problem_destroy(plain);
    problem_destroy(p);
}

static void test_infer_with_large_c0_has_gaussian_factors_and_their_evidence(void)
{
    test_rng rng = {8};
    for (int draws = 0; draws < 100; draws++)
        for (int f = 0; f < FLAVOURS; f++)
            if (flavours[f].robust)
                check_limit(&rng, &flavours[f]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_of_an_empty_set_is_the_prior);
    RUN_TEST(test_infer_of_an_empty_set_with_student_is_the_mean_of_alpha);
    RUN_TEST(test_infer_of_an_empty_set_with_student_is_standard_if_a0_is_b0);
    RUN_TEST(test_infer_with_a_mixture_of_one_is_gaussian_to_the_bit);
    RUN_TEST(test_infer_with_student_and_one_sweep_is_bayesian_aggregation);
    RUN_TEST(test_infer_with_robust_factors_and_one_sweep_has_gaussian_factors);
    RUN_TEST(test_infer_with_large_c0_has_gaussian_factors_and_their_evidence);
    return UNITY_END();
}
