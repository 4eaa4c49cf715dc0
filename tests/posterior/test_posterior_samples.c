/*
 * Samples against the exact expectation, component by component: unbiased with every way of
 * sampling, also their gradients; and components chosen by their weights.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "posterior_call.h"

enum { D = 2, K = 3, Q = K * (2 * D + 1), STATISTICS = 1 + Q };

static npagg_ctx *ctx;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
    ctx = NULL;
}

/* f(z) = cos(1.3 z_0) + z_1^2 / 2 + z_0 z_1 */
static double value_of(const double *z)
{
    return cos(1.3 * z[0]) + 0.5 * z[1] * z[1] + z[0] * z[1];
}

static void slope_of(const double *z, double g, double *dz)
{
    dz[0] = g * (-1.3 * sin(1.3 * z[0]) + z[1]);
    dz[1] = g * (z[1] + z[0]);
}

/* E_q f = sum_k exp(logw_k) E_k f, in closed form. */
static double expectation(const double *q)
{
    double sum = 0;
    for (int64_t k = 0; k < K; k++) {
        const double *m = q + k * D, *v = q + K * D + k * D;
        sum += exp(q[2 * K * D + k]) * (cos(1.3 * m[0]) * exp(-0.5 * 1.3 * 1.3 * v[0]) +
                                        0.5 * (m[1] * m[1] + v[1]) + m[0] * m[1]);
    }
    return sum;
}

/* Statistics of independent estimates: E f, then its gradient in q. */
typedef struct {
    double sum[STATISTICS], squares[STATISTICS];
    double n;
} statistics;

static double mean_of(const statistics *t, int i)
{
    return t->sum[i] / t->n;
}

static double variance_of(const statistics *t, int i)
{
    return t->squares[i] / t->n - mean_of(t, i) * mean_of(t, i);
}

static void check_mean(const statistics *t, int i, double want)
{
    const double error = sqrt(variance_of(t, i) / t->n);
    ASSERT_CLOSE(want, mean_of(t, i), 0, 4 * error + 1e-12);
}

/* The same posterior in every set, fresh noise. */
static posterior_call *draw(uint64_t seed, int64_t n_sets, int64_t n_samples)
{
    test_rng rng = {seed};
    posterior_call *f = call_create(ctx, &rng, MIXTURE, D, K, n_sets, n_samples, 64);
    for (int64_t b = 1; b < n_sets; b++) {
        memcpy((double *)f->q + b * Q, f->q, Q * sizeof(double));
        memcpy((double *)f->p + b * Q, f->p, Q * sizeof(double));
    }
    for (int64_t i = 0; i < n_sets * n_samples; i++)
        ((double *)f->u)[i] = rng_uniform(&rng, 0, 1);
    ASSERT_OK(ctx, call_forward(ctx, f, OP_CHOOSE));
    memcpy(f->which, f->chosen, (size_t)(n_sets * n_samples) * sizeof(int32_t));
    return f;
}

/* One estimate a set: sum_s exp(logw_s) f(z_s) and, through backward, its gradient. */
static statistics estimate(const posterior_call *f, posterior_op op)
{
    statistics t = {.n = (double)f->n_sets};
    const double *z = f->point, *logw = f->sample;
    double *values = calloc((size_t)f->n_sets, sizeof *values);
    TEST_ASSERT_NOT_NULL(values);
    memset(f->out, 0, f->out_bytes);
    ASSERT_OK(ctx, call_forward(ctx, f, op));
    for (int64_t i = 0; i < f->n_sets * f->n_samples; i++) {
        const double w = exp(logw[i]), y = value_of(z + i * D);
        values[i / f->n_samples] += w * y;
        ((double *)f->dsample)[i] = w * y;
        slope_of(z + i * D, w, (double *)f->dpoint + i * D);
    }
    ASSERT_OK(ctx, call_backward(ctx, f, op));
    for (int64_t b = 0; b < f->n_sets; b++)
        for (int i = 0; i < STATISTICS; i++) {
            const double x = i == 0 ? values[b] : ((double *)f->dq)[b * Q + i - 1];
            t.sum[i] += x;
            t.squares[i] += x * x;
        }
    free(values);
    return t;
}

/* Central difference of the exact expectation in q_i. */
static double exact_slope(const double *q, int i)
{
    double x[Q], y[Q];
    memcpy(x, q, sizeof x);
    memcpy(y, q, sizeof y);
    x[i] += 1e-5;
    y[i] -= 1e-5;
    return (expectation(x) - expectation(y)) / 2e-5;
}

static void check_estimate(const posterior_call *f, posterior_op op)
{
    const statistics t = estimate(f, op);
    check_mean(&t, 0, expectation(f->q));
    for (int i = 0; i < 2 * K * D; i++)
        check_mean(&t, 1 + i, exact_slope(f->q, i));
    for (int i = 2 * K * D; i < Q; i++)
        check_mean(&t, 1 + i, op == OP_STRATIFIED ? exact_slope(f->q, i) : 0);
}

static void test_posterior_stratified_estimates_are_unbiased_with_their_gradients(void)
{
    posterior_call *many = draw(1, 1000, 1000), *few = draw(2, 250000, 4);
    check_estimate(many, OP_STRATIFIED);
    check_estimate(few, OP_STRATIFIED);
    call_destroy(many);
    call_destroy(few);
}

static void test_posterior_chosen_and_pathwise_estimates_have_the_same_expectation(void)
{
    posterior_call *f = draw(3, 100000, 2);
    check_estimate(f, OP_CHOSEN);
    check_estimate(f, OP_PATHWISE);
    call_destroy(f);
}

static void test_posterior_pathwise_gradients_vary_less_than_chosen_ones(void)
{
    posterior_call *f = draw(4, 20000, 2);
    const statistics chosen = estimate(f, OP_CHOSEN), pathwise = estimate(f, OP_PATHWISE);
    for (int i = 1; i <= 2 * K * D; i++)
        TEST_ASSERT_TRUE(variance_of(&pathwise, i) < variance_of(&chosen, i));
    call_destroy(f);
}

static void test_posterior_log_weights_of_samples_add_up_to_one(void)
{
    for (int64_t s = K; s < 12; s++) {
        posterior_call *f = draw((uint64_t)s, 2, s);
        for (int op = OP_STRATIFIED; op <= OP_PATHWISE; op++) {
            double sum[2] = {0};
            ASSERT_OK(ctx, call_forward(ctx, f, op));
            for (int64_t i = 0; i < 2 * s; i++)
                sum[i / s] += exp(((double *)f->sample)[i]);
            ASSERT_CLOSE(1, sum[0], 1e-14, 0);
            ASSERT_CLOSE(1, sum[1], 1e-14, 0);
        }
        call_destroy(f);
    }
}

/* D = 1, where a fine grid gives the truth. */
static double grid_kl(const npagg_prior *prior, const double *q, const double *p)
{
    enum { N = 20001 };
    double *z = malloc(N * sizeof *z), *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    double sum = 0;
    TEST_ASSERT_TRUE(z && a && b);
    for (int i = 0; i < N; i++)
        z[i] = -25 + 50.0 * i / (N - 1);
    ASSERT_OK(ctx, npagg_posterior_logpdf_f64(ctx, prior, 1, N, q, z, a));
    ASSERT_OK(ctx, npagg_posterior_logpdf_f64(ctx, prior, 1, N, p, z, b));
    for (int i = 0; i < N; i++)
        sum += exp(a[i]) * (a[i] - b[i]) * 50.0 / (N - 1);
    free(z);
    free(a);
    free(b);
    return sum;
}

static void check_sampled(posterior_call *f, posterior_op op, double want)
{
    statistics t = {.n = (double)f->n_sets};
    posterior_call drawn = *f;
    ASSERT_OK(ctx, call_forward(ctx, f, op));
    drawn.z = drawn.point, drawn.logw = drawn.sample;
    ASSERT_OK(ctx, call_forward(ctx, &drawn, OP_KL_SAMPLED));
    for (int64_t b = 0; b < f->n_sets; b++) {
        t.sum[0] += ((double *)f->set)[b];
        t.squares[0] += ((double *)f->set)[b] * ((double *)f->set)[b];
    }
    check_mean(&t, 0, want);
}

static void test_posterior_sampled_kl_is_unbiased_in_one_dimension(void)
{
    test_rng rng = {6};
    posterior_call *f = call_create(ctx, &rng, MIXTURE, 1, K, 100000, 5, 64);
    for (int64_t b = 1; b < f->n_sets; b++) {
        memcpy((double *)f->q + b * f->count, f->q, (size_t)f->count * sizeof(double));
        memcpy((double *)f->p + b * f->count, f->p, (size_t)f->count * sizeof(double));
    }
    for (int64_t i = 0; i < f->n_sets * f->n_samples; i++)
        ((double *)f->u)[i] = rng_uniform(&rng, 0, 1);
    ASSERT_OK(ctx, call_forward(ctx, f, OP_CHOOSE));
    memcpy(f->which, f->chosen, (size_t)(f->n_sets * f->n_samples) * sizeof(int32_t));
    const double want = grid_kl(f->prior, f->q, f->p);
    check_sampled(f, OP_STRATIFIED, want);
    check_sampled(f, OP_CHOSEN, want);
    call_destroy(f);
}

static void test_posterior_choose_draws_by_the_weights(void)
{
    posterior_call *f = draw(7, 1, 1000000);
    double counts[K] = {0};
    for (int64_t i = 0; i < f->n_samples; i++)
        counts[f->chosen[i]]++;
    for (int k = 0; k < K; k++) {
        const double w = exp(((double *)f->q)[2 * K * D + k]);
        ASSERT_CLOSE(w, counts[k] / 1e6, 0, 4 * sqrt(w * (1 - w) / 1e6));
    }
    call_destroy(f);
}

/* Weights in, u in, component out: one set, one sample per u. */
static void choose(int precision, int k, const double *w, int n, const double *u, int32_t *which)
{
    test_rng rng = {1};
    posterior_call *f = call_create(ctx, &rng, MIXTURE, 1, k, 1, n, precision);
    for (int c = 0; c < k; c++)
        call_put(f, f->q, 2 * k + c, w[c] > 0 ? log(w[c]) : -FLT_MAX);
    for (int i = 0; i < n; i++)
        call_put(f, f->u, i, u[i]);
    ASSERT_OK(ctx, call_forward(ctx, f, OP_CHOOSE));
    memcpy(which, f->chosen, (size_t)n * sizeof *which);
    call_destroy(f);
}

static void test_posterior_choose_at_the_ends_takes_components_that_have_weight(void)
{
    const double ends[2][2] = {{0, 1 - 0x1p-24}, {0, 1 - 0x1p-53}};
    const double weights[4][4] = {
        {0, 0.5, 0.5, 0}, {0, 0, 1, 0}, {0.25, 0.25, 0.25, 0.25}, {1, 0, 0, 0}};
    const int32_t want[4][2] = {{1, 2}, {2, 2}, {0, 3}, {0, 0}};
    for (int i = 0; i < 8; i++) {
        int32_t got[2];
        choose(i < 4 ? 32 : 64, 4, weights[i % 4], 2, ends[i / 4], got);
        TEST_ASSERT_EQUAL_INT32(want[i % 4][0], got[0]);
        TEST_ASSERT_EQUAL_INT32(want[i % 4][1], got[1]);
    }
}

static void test_posterior_choose_splits_the_unit_interval_at_the_running_sums(void)
{
    const double w[] = {0.5, 0.25, 0.25};
    const double u[] = {0.25, 0.499, 0.501, 0.749, 0.751, 0.999};
    const int32_t want[] = {0, 0, 1, 1, 2, 2};
    int32_t got[6];
    choose(32, 3, w, 6, u, got);
    ASSERT_SAME_BITS(sizeof want, want, got);
    choose(64, 3, w, 6, u, got);
    ASSERT_SAME_BITS(sizeof want, want, got);
}

/* Rounded weights add up to more or less than one; many of them, at the top end. */
static void test_posterior_choose_is_never_out_of_range(void)
{
    const int64_t ks[] = {2, 3, 7, 10, 97, 1000};
    for (int i = 0; i < 60; i++) {
        test_rng rng = {(uint64_t)i};
        const int64_t k = ks[i % 6];
        const int precision = i % 2 ? 64 : 32;
        posterior_call *f = call_create(ctx, &rng, MIXTURE, 1, k, 3, 50, precision);
        for (int64_t s = 0; s < 150; s++) /* u among the last numbers below 1, and the first */
            call_put(f, f->u, s,
                     s % 2 ? 1 - (double)(s + 1) * (precision == 32 ? 0x1p-24 : 0x1p-53)
                           : (double)s * 0x1p-60);
        for (int64_t b = 0; b < 3; b++) /* a shift by what rounding may do */
            for (int64_t c = 0; c < k; c++) {
                const int64_t at = b * f->count + 2 * k + c;
                call_put(f, f->q, at, call_get(f, f->q, at) + (double)(b - 1) * 1e-3);
            }
        ASSERT_OK(ctx, call_forward(ctx, f, OP_CHOOSE));
        for (int64_t s = 0; s < 150; s++)
            TEST_ASSERT_TRUE(f->chosen[s] >= 0 && f->chosen[s] < k);
        for (int64_t s = 0; s < 150; s += 2)
            TEST_ASSERT_EQUAL_INT32(0, f->chosen[s]);
        call_destroy(f);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_posterior_stratified_estimates_are_unbiased_with_their_gradients);
    RUN_TEST(test_posterior_chosen_and_pathwise_estimates_have_the_same_expectation);
    RUN_TEST(test_posterior_pathwise_gradients_vary_less_than_chosen_ones);
    RUN_TEST(test_posterior_log_weights_of_samples_add_up_to_one);
    RUN_TEST(test_posterior_sampled_kl_is_unbiased_in_one_dimension);
    RUN_TEST(test_posterior_choose_draws_by_the_weights);
    RUN_TEST(test_posterior_choose_at_the_ends_takes_components_that_have_weight);
    RUN_TEST(test_posterior_choose_splits_the_unit_interval_at_the_running_sums);
    RUN_TEST(test_posterior_choose_is_never_out_of_range);
    return UNITY_END();
}
