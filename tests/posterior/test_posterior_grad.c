/* Gradients of every operation against central differences, and float against double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "posterior_call.h"

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

static const char *describe_op(const posterior_call *f, posterior_op op, const char *what)
{
    static char text[128];
    snprintf(text, sizeof text, "%s D=%d K=%d S=%d: %s", op_names[op], (int)f->d, (int)f->k,
             (int)f->n_samples, what);
    return text;
}

/* Log weights add up to one, so only this part of a gradient reaches anything: (A5). */
static void project_weights(const posterior_call *f, double *dq)
{
    const int64_t at = 2 * f->k * f->d;
    for (int64_t b = 0; b < f->n_sets && f->count > at; b++) {
        double total = 0, *g = dq + b * f->count + at;
        for (int64_t k = 0; k < f->k; k++)
            total += g[k];
        for (int64_t k = 0; k < f->k; k++)
            g[k] -= exp(call_get(f, f->q, b * f->count + at + k)) * total;
    }
}

/* Central differences of the loss in x [n], step 1e-5. */
static double *differences(const posterior_call *f, posterior_op op, double *x, int64_t n)
{
    const double h = 1e-5;
    double *g = calloc((size_t)n + 1, sizeof *g);
    TEST_ASSERT_NOT_NULL(g);
    for (int64_t i = 0; i < n; i++) {
        const double keep = x[i];
        x[i] = keep + h;
        const double up = call_loss(ctx, f, op);
        x[i] = keep - h;
        g[i] = (up - call_loss(ctx, f, op)) / (2 * h);
        x[i] = keep;
    }
    return g;
}

static void check_array(const posterior_call *f, posterior_op op, double *x, int64_t n, double *got,
                        const char *name)
{
    double *want = differences(f, op, x, n);
    if (op == OP_MOMENTS) {
        project_weights(f, want);
        project_weights(f, got);
    }
    check_all_close(n, want, got, 1e-8, 1e-8, describe_op(f, op, name), __LINE__);
    free(want);
}

static void check_op(const posterior_call *f, posterior_op op)
{
    const int64_t s = f->n_sets * f->n_samples, bq = f->n_sets * f->count;
    call_run(ctx, f, op);
    check_array(f, op, f->q, bq, f->dq, "dq");
    if (op <= OP_PATHWISE || op == OP_MOMENTS)
        return;
    check_array(f, op, f->p, bq, f->dp, "dp");
    check_array(f, op, f->z, s * f->d, f->dz, "dz");
    check_array(f, op, f->logw, s, f->dlogw, "dlogw");
}

static void check_ops(prior_kind kind, int64_t d, int64_t k, int64_t s)
{
    test_rng rng = {(uint64_t)(100 * d + 10 * k + s)};
    posterior_call *f = call_create(ctx, &rng, kind, d, k, 2, s, 64);
    for (int op = 0; op < OP_CHOOSE; op++)
        if (!call_lacks(f, op) && !(op == OP_PATHWISE && f->k > 1))
            check_op(f, op);
    call_destroy(f);
}

static void test_posterior_gradients_are_the_differences_of_the_values(void)
{
    check_ops(GAUSSIAN, 1, 1, 1);
    check_ops(GAUSSIAN, 5, 1, 3);
    check_ops(STUDENT, 6, 1, 2);
    check_ops(MIXTURE, 4, 1, 2);
    check_ops(MIXTURE, 1, 2, 2);
    check_ops(MIXTURE, 3, 3, 7);
    check_ops(MIXTURE, 9, 5, 6);
}

/* MATHS 7 in plain loops: dmean_k += rho_k dz, dsd_k += rho_k dz (z - mean_k) / sd_k. */
static void spread_naively(const posterior_call *f, int64_t row, double *dq)
{
    const int64_t d = f->d, kd = f->k * d, b = row / f->n_samples;
    const double *q = (const double *)f->q + b * f->count, *z = (const double *)f->point + row * d;
    const double *dz = (const double *)f->dpoint + row * d;
    double density[8] = {0}, total = 0;
    for (int64_t k = 0; k < f->k; k++) {
        density[k] = exp(q[2 * kd + k]);
        for (int64_t j = 0; j < d; j++) {
            const double v = q[kd + k * d + j], x = z[j] - q[k * d + j];
            density[k] *= exp(-0.5 * x * x / v) / sqrt(6.283185307179586 * v);
        }
        total += density[k];
    }
    for (int64_t i = 0; i < kd; i++) {
        const double rho = density[i / d] / total, v = q[kd + i];
        dq[b * f->count + i] += rho * dz[i % d];
        dq[b * f->count + kd + i] += rho * dz[i % d] * (z[i % d] - q[i]) / (2 * v);
    }
}

static void test_posterior_pathwise_shares_the_gradient_by_responsibility(void)
{
    test_rng rng = {5};
    posterior_call *f = call_create(ctx, &rng, MIXTURE, 3, 4, 3, 5, 64);
    double *want = calloc((size_t)(f->n_sets * f->count), sizeof *want);
    TEST_ASSERT_NOT_NULL(want);
    call_run(ctx, f, OP_PATHWISE);
    for (int64_t row = 0; row < f->n_sets * f->n_samples; row++)
        spread_naively(f, row, want);
    ASSERT_ALL_CLOSE(f->n_sets * f->count, want, (double *)f->dq, 1e-12, 0);
    free(want);
    call_destroy(f);
}

static void test_posterior_gradients_are_added_and_may_be_left_out(void)
{
    test_rng rng = {6};
    posterior_call *f = call_create(ctx, &rng, MIXTURE, 3, 2, 2, 4, 64);
    for (int op = 0; op < OP_CHOOSE; op++) {
        if (call_lacks(f, op))
            continue;
        posterior_call none = *f;
        call_run(ctx, f, op);
        const double once = ((double *)f->dq)[1], once_z = ((double *)f->dz)[1];
        ASSERT_OK(ctx, call_backward(ctx, f, op));
        ASSERT_CLOSE(2 * once, ((double *)f->dq)[1], 1e-14, 0);
        ASSERT_CLOSE(2 * once_z, ((double *)f->dz)[1], 1e-14, 0);
        none.dq = none.dp = none.dz = none.dlogw = NULL;
        ASSERT_OK(ctx, call_backward(ctx, &none, op));
    }
    call_destroy(f);
}

static void test_posterior_sample_without_cotangents_gives_no_gradient(void)
{
    test_rng rng = {7};
    posterior_call *f = call_create(ctx, &rng, MIXTURE, 3, 2, 2, 4, 64);
    posterior_call g = *f;
    memset(f->out, 0, f->out_bytes);
    g.dpoint = g.dsample = NULL;
    for (int op = OP_STRATIFIED; op <= OP_PATHWISE; op++)
        ASSERT_OK(ctx, call_backward(ctx, &g, op));
    g = *f;
    g.dpoint = NULL;
    ASSERT_OK(ctx, call_backward(ctx, &g, OP_CHOSEN));
    ASSERT_OK(ctx, call_backward(ctx, &g, OP_PATHWISE));
    g.dmean = g.dvar = NULL;
    ASSERT_OK(ctx, call_backward(ctx, &g, OP_MOMENTS));
    for (int64_t i = 0; i < f->n_sets * f->count; i++)
        TEST_ASSERT_TRUE(((double *)f->dq)[i] == 0);
    call_destroy(f);
}

static void test_posterior_moments_of_one_component_give_its_weight_no_gradient(void)
{
    test_rng rng = {8};
    posterior_call *f = call_create(ctx, &rng, MIXTURE, 3, 1, 2, 1, 64);
    call_run(ctx, f, OP_MOMENTS);
    for (int64_t b = 0; b < 2; b++)
        ASSERT_CLOSE(0, ((double *)f->dq)[b * f->count + 6], 0, 0);
    call_destroy(f);
}

static double *widen(const void *x, int64_t n)
{
    double *y = malloc(((size_t)n + 1) * sizeof *y);
    TEST_ASSERT_NOT_NULL(y);
    for (int64_t i = 0; i < n; i++)
        y[i] = (double)((const float *)x)[i];
    return y;
}

static void compare(int64_t n, const void *want, const void *got, const char *what)
{
    double *wide = widen(got, n);
    check_all_close(n, want, wide, 0x1p-23, 1e-30, what, __LINE__);
    free(wide);
}

/* Doubles that are floats, so that both precisions are given the same numbers. */
static void round_inputs(posterior_call *f)
{
    const int64_t s = f->n_sets * f->n_samples, bq = f->n_sets * f->count, bd = f->n_sets * f->d;
    void *arrays[] = {f->q,    f->p,      f->noise,   f->z,     f->logw, f->u,
                      f->dset, f->dpoint, f->dsample, f->dmean, f->dvar};
    const int64_t counts[] = {bq, bq, s * f->d, s * f->d, s, s, f->n_sets, s * f->d, s, bd, bd};
    for (int a = 0; a < 11; a++)
        for (int64_t i = 0; i < counts[a]; i++)
            call_put(f, arrays[a], i, (double)(float)call_get(f, arrays[a], i));
}

/* All arithmetic is in double, so a float result is a double one rounded to float. */
static void test_posterior_in_float_is_the_double_result_rounded(void)
{
    const int64_t dims[] = {1, 7, 128, 1000};
    for (int i = 0; i < 8; i++) {
        test_rng rng = {(uint64_t)i};
        posterior_call *f =
            call_create(ctx, &rng, i % 2 ? MIXTURE : GAUSSIAN, dims[i / 2], 5, 3, 6, 64);
        round_inputs(f);
        posterior_call *g = call_narrow(f);
        const int64_t s = f->n_sets * f->n_samples, bq = f->n_sets * f->count;
        for (int op = 0; op < OPS; op++) {
            if (call_lacks(f, op))
                continue;
            call_run(ctx, f, op);
            call_run(ctx, g, op);
            compare(s * f->d, f->point, g->point, describe_op(f, op, "point"));
            compare(s, f->sample, g->sample, describe_op(f, op, "sample"));
            compare(f->n_sets, f->set, g->set, describe_op(f, op, "set"));
            compare(f->n_sets * f->d, f->mean, g->mean, describe_op(f, op, "mean"));
            compare(f->n_sets * f->d, f->var, g->var, describe_op(f, op, "var"));
            compare(bq, f->dq, g->dq, describe_op(f, op, "dq"));
            compare(bq, f->dp, g->dp, describe_op(f, op, "dp"));
            compare(s * f->d, f->dz, g->dz, describe_op(f, op, "dz"));
            compare(s, f->dlogw, g->dlogw, describe_op(f, op, "dlogw"));
            ASSERT_SAME_BITS(s * 4, f->chosen, g->chosen);
        }
        call_destroy(g);
        call_destroy(f);
    }
}

/* The gaussian's q, of Q numbers, as that of a mixture with one component, of Q + 1. */
static void copy_posteriors(const posterior_call *one, const void *from, const posterior_call *mix,
                            void *to)
{
    for (int64_t b = 0; b < one->n_sets; b++) {
        for (int64_t i = 0; i < one->count; i++)
            call_put(mix, to, b * mix->count + i, call_get(one, from, b * one->count + i));
        call_put(mix, to, b * mix->count + one->count, 0);
    }
}

static void compare_gradients(const posterior_call *one, const posterior_call *mix)
{
    for (int64_t b = 0; b < one->n_sets; b++) {
        const size_t bytes = (size_t)one->count * one->real;
        const char *a = one->dq, *c = mix->dq;
        ASSERT_SAME_BITS((int64_t)bytes, a + (size_t)b * bytes,
                         c + (size_t)(b * mix->count) * mix->real);
    }
}

static void test_posterior_mixture_of_one_component_is_the_gaussian_to_the_bit(void)
{
    for (int i = 0; i < 4; i++) {
        test_rng rng = {9};
        const int precision = i % 2 ? 32 : 64;
        const int64_t d = i < 2 ? 3 : 130;
        posterior_call *one = call_create(ctx, &rng, GAUSSIAN, d, 1, 2, 3, precision);
        posterior_call *mix = call_create(ctx, &rng, MIXTURE, d, 1, 2, 3, precision);
        posterior_call same = *mix;
        copy_posteriors(one, one->q, mix, mix->q);
        copy_posteriors(one, one->p, mix, mix->p);
        same.noise = one->noise, same.z = one->z, same.logw = one->logw, same.u = one->u;
        same.dpoint = one->dpoint, same.dsample = one->dsample, same.dset = one->dset;
        same.dmean = one->dmean, same.dvar = one->dvar, same.which = NULL;
        for (int op = 0; op < OPS; op++) {
            call_run(ctx, one, op);
            call_run(ctx, &same, op);
            const int64_t s = one->n_sets * one->n_samples, real = (int64_t)one->real;
            ASSERT_SAME_BITS(s * d * real, one->point, mix->point);
            ASSERT_SAME_BITS(s * real, one->sample, mix->sample);
            ASSERT_SAME_BITS(one->n_sets * real, one->set, mix->set);
            ASSERT_SAME_BITS(one->n_sets * d * real, one->mean, mix->mean);
            ASSERT_SAME_BITS(s * d * real, one->dz, mix->dz);
            compare_gradients(one, mix);
        }
        call_destroy(one);
        call_destroy(mix);
    }
}

static void test_posterior_modes_of_one_component_are_the_same(void)
{
    test_rng rng = {10};
    posterior_call *f = call_create(ctx, &rng, GAUSSIAN, 5, 1, 3, 4, 32);
    void *keep = malloc(f->out_bytes);
    TEST_ASSERT_NOT_NULL(keep);
    posterior_call g = *f;
    g.which = NULL;
    call_run(ctx, &g, OP_STRATIFIED);
    memcpy(keep, f->out, f->out_bytes);
    for (int op = OP_CHOSEN; op <= OP_PATHWISE; op++) {
        call_run(ctx, &g, op);
        ASSERT_SAME_BITS((int64_t)f->out_bytes, keep, f->out);
    }
    free(keep);
    call_destroy(f);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_posterior_gradients_are_the_differences_of_the_values);
    RUN_TEST(test_posterior_pathwise_shares_the_gradient_by_responsibility);
    RUN_TEST(test_posterior_gradients_are_added_and_may_be_left_out);
    RUN_TEST(test_posterior_sample_without_cotangents_gives_no_gradient);
    RUN_TEST(test_posterior_moments_of_one_component_give_its_weight_no_gradient);
    RUN_TEST(test_posterior_in_float_is_the_double_result_rounded);
    RUN_TEST(test_posterior_mixture_of_one_component_is_the_gaussian_to_the_bit);
    RUN_TEST(test_posterior_modes_of_one_component_are_the_same);
    return UNITY_END();
}
