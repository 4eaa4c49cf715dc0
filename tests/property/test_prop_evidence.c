/* log Z and the bound against integrals over a single dimension, and the bound from sweep to sweep.
 */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "claim.h"
#include "difference.h"

#define LOG_2PI 1.83787706640934548356

static npagg_ctx *ctx;

void setUp(void)
{
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

static double log_normal(double z, double mean, double var)
{
    return -0.5 * (LOG_2PI + log(var) + (z - mean) * (z - mean) / var);
}

/* log of the integral of N(z | mean, var / g) Gamma(g | shape, rate) over g. */
static double log_student(double z, double mean, double var, double shape, double rate)
{
    double square = (z - mean) * (z - mean) / (2 * var * rate);
    return lgamma(shape + 0.5) - lgamma(shape) - 0.5 * (LOG_2PI + log(var * rate)) -
           (shape + 0.5) * log1p(square);
}

static double log_prior(const problem *p, double z)
{
    if (p->kind == STUDENT)
        return log_student(z, 0, 1, exp(p->params[0]), exp(p->params[1]));
    double density = 0, total = 0;
    for (int64_t k = 0; k < p->k; k++) {
        double weight = p->kind == MIXTURE ? exp(p->params[2 * p->k + k]) : 1;
        density += weight * exp(log_normal(z, p->params[k], exp(p->params[p->k + k])));
        total += weight;
    }
    return log(density / total);
}

static double log_factor(const problem *p, int64_t i, double z)
{
    if (!p->robust)
        return log_normal(z, p->m[i], p->v[i]);
    double c0 = exp(p->params[p->p - 1]);
    return log_student(z, p->m[i], p->v[i], c0, c0);
}

static double log_joint(const problem *p, double z)
{
    double sum = log_prior(p, z);
    for (int64_t i = 0; i < p->n; i++) {
        double weight = p->weight ? p->weight[i] : 1;
        if (weight != 0)
            sum += weight * log_factor(p, i, z);
    }
    return sum;
}

/* Trapezoids in u of z = sinh(u), |z| < 1e8: for analytic integrands accurate to rounding. */
static double log_integral(const problem *p)
{
    const double step = 1.0 / 1024;
    double sum = 0, shift = log_joint(p, 0);
    for (double u = -19; u <= 19; u += step)
        sum += cosh(u) * exp(log_joint(p, sinh(u)) - shift);
    return shift + log(sum * step);
}

static problem *draw_line(test_rng *rng, const flavour *f, int weighted)
{
    int64_t n = rng_int(rng, 0, 6);
    return problem_create(rng, f->kind, f->robust, 1, f->k, 1, &n, weighted);
}

static void test_evidence_of_gaussian_factors_is_the_integral(void)
{
    test_rng rng = {1};
    for (int draws = 0; draws < 40; draws++) {
        problem *p = draw_line(&rng, &flavours[draws % 2 ? 0 : 2], draws / 2 % 2);
        result *r = problem_run(ctx, p, 64, 1);
        TEST_ASSERT_EQUAL_INT(0, p->robust);
        ASSERT_CLOSE(log_integral(p), r->logz[0], 1e-12, 1e-12);
        result_destroy(r);
        problem_destroy(p);
    }
}

/* Rows have weight 1 here: a weight of 1.5 is not a power of a Student-t, but 1.5 copies of beta.
 */
static void test_bound_of_iterated_priors_is_below_the_evidence(void)
{
    test_rng rng = {2};
    for (int draws = 0; draws < 40; draws++)
        for (int f = 0; f < FLAVOURS; f++) {
            problem *p = draw_line(&rng, &flavours[f], 0);
            p->max_iters = 100;
            result *r = problem_run(ctx, p, 64, 1);
            double gap = log_integral(p) - r->logz[0];
            TEST_ASSERT_TRUE_MESSAGE(gap > -1e-11, describe(p, "bound above the evidence"));
            TEST_ASSERT_TRUE_MESSAGE(gap < 1 + 0.2 * (double)p->n, describe(p, "bound far below"));
            result_destroy(r);
            problem_destroy(p);
        }
}

/* The traces [iters] of all sets, one after the other max_iters apart. */
static double *run_traces(const problem *p, int32_t *iters, double *logz)
{
    inference *f = inference_create(ctx, p, 64);
    npagg_cache *cache = NULL;
    double *trace = calloc((size_t)(p->n_sets * p->max_iters), sizeof *trace);
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    ASSERT_OK(ctx, inference_forward(ctx, f, cache));
    ASSERT_OK(ctx, npagg_infer_iters(ctx, cache, iters));
    for (int64_t b = 0; b < p->n_sets; b++) {
        logz[b] = inference_get(f, f->logz, b);
        ASSERT_OK(ctx, npagg_infer_trace(ctx, cache, b, trace + b * p->max_iters));
    }
    npagg_cache_destroy(cache);
    inference_destroy(f);
    return trace;
}

static double log_uniform(test_rng *rng, double lo, double hi)
{
    return exp(rng_uniform(rng, log(lo), log(hi)));
}

#define BATCH 50

/* Sets of 0 to 20 points over decades of scales: outliers, tiny and huge a0, b0, c0. */
static problem *draw_wild(test_rng *rng, const flavour *f)
{
    int64_t sizes[BATCH], d = rng_int(rng, 1, 12), hyper = f->robust + (f->kind == STUDENT ? 2 : 0);
    for (int b = 0; b < BATCH; b++)
        sizes[b] = rng_int(rng, 0, 20);
    problem *p =
        problem_create(rng, f->kind, f->robust, d, f->k, BATCH, sizes, (int)rng_int(rng, 0, 1));
    for (int64_t i = 0; i < p->n; i++) {
        double spread = log_uniform(rng, 0.1, 30), var = log_uniform(rng, 1e-3, 1e3);
        for (int64_t j = i * d; j < (i + 1) * d; j++) {
            p->m[j] *= spread;
            p->v[j] *= var;
        }
    }
    for (int64_t j = p->p - hyper; j < p->p; j++)
        p->params[j] = log(log_uniform(rng, 1e-6, 1e4));
    p->max_iters = (int32_t)rng_int(rng, 2, 30);
    return p;
}

static void check_never_falls(const problem *p)
{
    int32_t iters[BATCH];
    double logz[BATCH], *trace = run_traces(p, iters, logz);
    for (int64_t b = 0; b < p->n_sets; b++) {
        const double *F = trace + b * p->max_iters;
        TEST_ASSERT_EQUAL_INT32(p->max_iters, iters[b]);
        for (int32_t t = 1; t < iters[b]; t++)
            if (!(F[t] >= F[t - 1] - 1e-12 * (1 + fabs(F[t]))))
                check_close(F[t - 1], F[t], 0, 0, describe(p, "bound fell"), __LINE__);
        TEST_ASSERT_TRUE_MESSAGE(logz[b] == F[iters[b] - 1], describe(p, "logz is not F"));
    }
    free(trace);
}

/* 4 x 50 batches of 50 sets. */
static void test_bound_never_falls(void)
{
    test_rng rng = {3};
    for (int draws = 0; draws < 50; draws++)
        for (int f = 0; f < FLAVOURS; f++) {
            if (flavours[f].kind != STUDENT && !flavours[f].robust)
                continue;
            problem *p = draw_wild(&rng, &flavours[f]);
            check_never_falls(p);
            problem_destroy(p);
        }
}

static void test_trace_of_an_exact_prior_is_its_evidence(void)
{
    test_rng rng = {4};
    for (int f = 0; f < FLAVOURS; f++) {
        if (flavours[f].kind == STUDENT || flavours[f].robust)
            continue;
        int32_t iters[3];
        double logz[3];
        problem *p = draw_problem(&rng, &flavours[f], 7, 5, 64, 1);
        double *trace = run_traces(p, iters, logz);
        for (int64_t b = 0; b < p->n_sets; b++) {
            TEST_ASSERT_EQUAL_INT32(1, iters[b]);
            TEST_ASSERT_TRUE(trace[b * p->max_iters] == logz[b]);
        }
        free(trace);
        problem_destroy(p);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_evidence_of_gaussian_factors_is_the_integral);
    RUN_TEST(test_bound_of_iterated_priors_is_below_the_evidence);
    RUN_TEST(test_bound_never_falls);
    RUN_TEST(test_trace_of_an_exact_prior_is_its_evidence);
    return UNITY_END();
}
