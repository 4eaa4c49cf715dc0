/* How the sweeps end, what they leave in the cache, and what must not matter to them. */
#include <math.h>
#include <stdlib.h>

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

static int takes_one_sweep(const problem *p)
{
    return p->kind != STUDENT && !p->robust;
}

static void claim_max_iters(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n, int64_t d,
                            int precision)
{
    problem *p = draw_problem(rng, f, n, d, precision, 1);
    drop(&p->dq);
    drop(&p->dlogz);
    p->max_iters = (int32_t)rng_int(rng, 1, 4);
    result *r = problem_run(c, p, precision, 0);
    for (int64_t b = 0; b < p->n_sets; b++) {
        TEST_ASSERT_EQUAL_INT32(takes_one_sweep(p) ? 1 : p->max_iters, r->iters[b]);
        if (takes_one_sweep(p))
            TEST_ASSERT_TRUE(r->residual[b] == 0);
        else
            TEST_ASSERT_EQUAL_INT(p->max_iters == 1, isinf(r->residual[b]));
    }
    result_destroy(r);
    problem_destroy(p);
}

static void test_sweeps_without_tolerance_are_max_iters(void)
{
    claim_for_all(ctx, 1, claim_max_iters);
}

/* Sets that converge at different speeds: empty, small, large, with an outlier. */
static problem *draw_uneven(test_rng *rng, const flavour *f, int precision)
{
    static const int64_t sizes[] = {0, 1, 3, 12, 60, 7};
    problem *p = problem_create(rng, f->kind, f->robust, 5, f->k, 6, sizes, 0);
    for (int64_t j = 76 * p->d; j < 77 * p->d; j++)
        p->m[j] += 20;
    if (precision == 32)
        problem_round(p);
    p->max_iters = 300;
    p->tol = precision == 64 ? 1e-9 : 1e-4;
    return p;
}

static void check_stops_at_tolerance(const problem *p, const result *r)
{
    int32_t fewest = p->max_iters, most = 0;
    for (int64_t b = 0; b < p->n_sets; b++) {
        TEST_ASSERT_TRUE_MESSAGE(r->residual[b] <= p->tol, describe(p, "residual"));
        TEST_ASSERT_TRUE(r->iters[b] >= 2 && r->iters[b] < p->max_iters);
        fewest = r->iters[b] < fewest ? r->iters[b] : fewest;
        most = r->iters[b] > most ? r->iters[b] : most;
    }
    TEST_ASSERT_TRUE_MESSAGE(fewest < most, describe(p, "all sets stopped together"));
}

/* Set b of the batch has the bits it has alone, its gradient by rows included. */
static void check_set_alone(const problem *p, const result *r, int64_t b, int precision)
{
    problem *alone = problem_of_set(p, b);
    result *a = problem_run(ctx, alone, precision, 0);
    int64_t first = p->offsets[b], nd = alone->n * p->d * 8;
    TEST_ASSERT_EQUAL_INT32(a->iters[0], r->iters[b]);
    TEST_ASSERT_EQUAL_INT32(a->grad_iters[0], r->grad_iters[b]);
    check_same_bits(8, a->residual, r->residual + b, describe(p, "residual"), __LINE__);
    check_same_bits(p->q * 8, a->q, r->q + b * p->q, describe(p, "q"), __LINE__);
    check_same_bits(8, a->logz, r->logz + b, describe(p, "logz"), __LINE__);
    check_same_bits(alone->n * 8, a->w, r->w + first, describe(p, "w"), __LINE__);
    check_same_bits(nd, a->dm, r->dm + first * p->d, describe(p, "dm"), __LINE__);
    check_same_bits(nd, a->dv, r->dv + first * p->d, describe(p, "dv"), __LINE__);
    result_destroy(a);
    problem_destroy(alone);
}

static void check_sets_stop_alone(test_rng *rng, const flavour *f, int precision, int32_t grad)
{
    problem *p = draw_uneven(rng, f, precision);
    p->grad = grad;
    result *r = problem_run(ctx, p, precision, 0);
    check_stops_at_tolerance(p, r);
    for (int64_t b = 0; b < p->n_sets; b++)
        check_set_alone(p, r, b, precision);
    result_destroy(r);
    problem_destroy(p);
}

static void test_sweeps_stop_set_by_set_as_if_each_were_alone(void)
{
    test_rng rng = {2};
    for (int f = 0; f < FLAVOURS; f++)
        for (int32_t grad = 0; grad < GRAD_MODES; grad++)
            for (int precision = 32; precision <= 64; precision += 32)
                if (flavours[f].kind == STUDENT || flavours[f].robust)
                    check_sets_stop_alone(&rng, &flavours[f], precision, grad);
}

/* (M1) of set b. */
static void moments(const problem *p, const double *q, int64_t j, double *E, double *V)
{
    *E = *V = 0;
    int64_t kd = p->k * p->d;
    for (int64_t k = 0; k < p->k; k++)
        *E += (p->k > 1 ? exp(q[2 * kd + k]) : 1) * q[k * p->d + j];
    for (int64_t k = 0; k < p->k; k++) {
        double apart = q[k * p->d + j] - *E;
        *V += (p->k > 1 ? exp(q[2 * kd + k]) : 1) * (q[kd + k * p->d + j] + apart * apart);
    }
}

static double residual_between(const problem *p, const double *before, const double *after)
{
    double largest = 0;
    for (int64_t j = 0; j < p->d; j++) {
        double E0, V0, E, V;
        moments(p, before, j, &E0, &V0);
        moments(p, after, j, &E, &V);
        largest = fmax(largest, fmax(fabs(E - E0) / sqrt(V), fabs(log(V / V0))));
    }
    return largest;
}

static void claim_residual(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n, int64_t d,
                           int precision)
{
    if (precision == 32 || (f->kind != STUDENT && !f->robust))
        return;
    problem *p = draw_problem(rng, f, n, d, 64, 1);
    p->max_iters = (int32_t)rng_int(rng, 2, 6);
    result *last = problem_run(c, p, 64, 0);
    p->max_iters--;
    result *before = problem_run(c, p, 64, 0);
    for (int64_t b = 0; b < p->n_sets; b++) {
        double want = residual_between(p, before->q + b * p->q, last->q + b * p->q);
        check_close(want, last->residual[b], 1e-12, 1e-12, describe(p, "residual"), __LINE__);
    }
    result_destroy(last);
    result_destroy(before);
    problem_destroy(p);
}

static void test_residual_is_the_largest_step_of_the_last_sweep(void)
{
    claim_for_all(ctx, 3, claim_residual);
}

/* Stopped by tolerance after t sweeps: the residual of t - 1 sweeps was still above it. */
static void check_no_later_than_needed(problem *p)
{
    result *r = problem_run(ctx, p, 64, 0);
    double tol = p->tol;
    p->tol = 0;
    for (int64_t b = 0; b < p->n_sets; b++) {
        if (r->iters[b] <= 2)
            continue;
        p->max_iters = r->iters[b] - 1;
        result *earlier = problem_run(ctx, p, 64, 0);
        TEST_ASSERT_TRUE_MESSAGE(earlier->residual[b] > tol, describe(p, "stopped late"));
        result_destroy(earlier);
    }
    result_destroy(r);
}

static void test_sweeps_stop_as_soon_as_the_residual_is_within_tolerance(void)
{
    test_rng rng = {4};
    for (int f = 0; f < FLAVOURS; f++) {
        if (flavours[f].kind != STUDENT && !flavours[f].robust)
            continue;
        problem *p = draw_uneven(&rng, &flavours[f], 64);
        check_no_later_than_needed(p);
        problem_destroy(p);
    }
}

/* 20 points around 0 in 8 dimensions, v = 0.5, the last one 30 standard deviations off in each. */
static problem *draw_outlier(test_rng *rng, const flavour *f)
{
    static const int64_t size = 20;
    problem *p = problem_create(rng, f->kind, f->robust, 8, f->k, 1, &size, 0);
    for (int64_t j = 0; j < p->n * p->d; j++) {
        p->m[j] = 0.1 * p->m[j] + (j >= 19 * p->d ? 30 * sqrt(0.5) : 0);
        p->v[j] = 0.5;
    }
    p->params[p->p - 1] = 0;
    p->max_iters = 20;
    return p;
}

/*
 * With c0 = 1: q_i of the outlier is about 8 * 900, so E[beta] = 5 / 3601. Of the others q_i is
 * about 16 (0.01 + V) with V < 0.01, and E[beta] = 5 / (1 + q_i / 2) below 5.
 */
static void check_outlier(const problem *p, const result *r)
{
    TEST_ASSERT_TRUE_MESSAGE(r->w[19] > 0 && r->w[19] < 0.002, describe(p, "outlier's weight"));
    for (int64_t i = 0; i < 19; i++)
        TEST_ASSERT_TRUE_MESSAGE(r->w[i] > 3.5 && r->w[i] < 5, describe(p, "inlier's weight"));
    for (int64_t j = 0; j < p->d; j++)
        TEST_ASSERT_TRUE_MESSAGE(fabs(r->q[j]) < 0.3 || p->k > 1, describe(p, "mean"));
}

static void test_weights_of_robust_factors_are_small_for_an_outlier_only(void)
{
    test_rng rng = {5};
    for (int f = 0; f < FLAVOURS; f++) {
        if (!flavours[f].robust)
            continue;
        problem *p = draw_outlier(&rng, &flavours[f]);
        for (int precision = 32; precision <= 64; precision += 32) {
            result *r = problem_run(ctx, p, precision, 0);
            check_outlier(p, r);
            result_destroy(r);
        }
        problem_destroy(p);
    }
}

static void claim_gaussian_weights(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n,
                                   int64_t d, int precision)
{
    if (f->robust)
        return;
    problem *p = draw_problem(rng, f, n, d, precision, 1);
    result *r = problem_run(c, p, precision, 0);
    for (int64_t i = 0; i < p->n; i++)
        TEST_ASSERT_TRUE(r->w[i] == (p->weight[i] == 0 ? 0 : 1));
    result_destroy(r);
    problem_destroy(p);
}

static void test_weights_of_gaussian_factors_are_one(void)
{
    claim_for_all(ctx, 6, claim_gaussian_weights);
}

/* One forward with or without logz and cache, compared with the one that had both. */
static void check_forward(const problem *p, const inference *whole, int with_logz, int with_cache)
{
    inference *other = inference_create(ctx, p, whole->precision);
    inference asked = *other;
    npagg_cache *cache = NULL;
    if (!with_logz)
        asked.logz = NULL;
    if (with_cache)
        ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    ASSERT_OK(ctx, inference_forward(ctx, &asked, cache));
    int64_t real = (int64_t)whole->real;
    check_same_bits(p->n_sets * p->q * real, whole->post, asked.post, describe(p, "q"), __LINE__);
    if (with_logz)
        check_same_bits(p->n_sets * real, whole->logz, asked.logz, describe(p, "logz"), __LINE__);
    npagg_cache_destroy(cache);
    inference_destroy(other);
}

static void claim_forward_is_one(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n,
                                 int64_t d, int precision)
{
    problem *p = draw_problem(rng, f, n, d, precision, 1);
    p->grad = (int32_t)rng_int(rng, 0, GRAD_MODES - 1);
    p->tol = rng_int(rng, 0, 1) ? 1e-3 : 0;
    inference *whole = inference_create(c, p, precision);
    inference_run_once(c, whole);
    for (int which = 0; which < 4; which++)
        check_forward(p, whole, which & 1, which & 2);
    inference_destroy(whole);
    problem_destroy(p);
}

static void test_forward_gives_the_same_bits_with_and_without_cache_and_logz(void)
{
    claim_for_all(ctx, 7, claim_forward_is_one);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_sweeps_without_tolerance_are_max_iters);
    RUN_TEST(test_sweeps_stop_set_by_set_as_if_each_were_alone);
    RUN_TEST(test_residual_is_the_largest_step_of_the_last_sweep);
    RUN_TEST(test_sweeps_stop_as_soon_as_the_residual_is_within_tolerance);
    RUN_TEST(test_weights_of_robust_factors_are_small_for_an_outlier_only);
    RUN_TEST(test_weights_of_gaussian_factors_are_one);
    RUN_TEST(test_forward_gives_the_same_bits_with_and_without_cache_and_logz);
    return UNITY_END();
}
