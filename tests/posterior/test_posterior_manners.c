/* Operations on posteriors: threads, memory, and the ends of what float32 holds. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "meter.h"
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

static void *copy_outputs(const posterior_call *f)
{
    void *copy = malloc(f->out_bytes);
    TEST_ASSERT_NOT_NULL(copy);
    memcpy(copy, f->out, f->out_bytes);
    return copy;
}

static void compare_threads(const posterior_call *f, posterior_op op)
{
    const int32_t threads[] = {2, 3, 7};
    call_run(ctx, f, op);
    void *want = copy_outputs(f);
    for (int i = 0; i < 3; i++) {
        npagg_ctx *many = NULL;
        ASSERT_OK(NULL, npagg_ctx_create(&many));
        ASSERT_OK(many, npagg_ctx_set_threads(many, threads[i]));
        call_run(many, f, op);
        check_same_bits((int64_t)f->out_bytes, want, f->out, op_names[op], __LINE__);
        npagg_ctx_destroy(many);
    }
    free(want);
}

static void test_posterior_gives_the_same_bits_on_any_number_of_threads(void)
{
    for (int i = 0; i < 4; i++) {
        test_rng rng = {3};
        posterior_call *f =
            call_create(ctx, &rng, i % 2 ? MIXTURE : GAUSSIAN, 33, 4, 37, 9, i < 2 ? 32 : 64);
        for (int op = 0; op < OPS; op++)
            if (!call_lacks(f, op))
                compare_threads(f, op);
        call_destroy(f);
    }
}

/* A set's results do not depend on its companions. */
static void test_posterior_of_one_set_is_that_within_a_batch(void)
{
    test_rng rng = {4};
    posterior_call *f = call_create(ctx, &rng, MIXTURE, 5, 3, 4, 6, 64), one = *f;
    const int64_t b = 2, at = b * f->n_samples;
    double kl;
    one.n_sets = 1;
    one.q = (double *)f->q + b * f->count;
    one.p = (double *)f->p + b * f->count;
    one.z = (double *)f->z + at * f->d;
    one.logw = (double *)f->logw + at;
    one.set = &kl;
    for (int op = OP_KL_SAMPLED; op <= OP_KL_MATCHED; op++) {
        ASSERT_OK(ctx, call_forward(ctx, f, op));
        ASSERT_OK(ctx, call_forward(ctx, &one, op));
        ASSERT_SAME_BITS(8, (double *)f->set + b, &kl);
    }
    call_destroy(f);
}

static void test_posterior_of_no_sets_or_no_samples_is_fine(void)
{
    test_rng rng = {5};
    posterior_call *f = call_create(ctx, &rng, MIXTURE, 3, 2, 0, 4, 32), bare = {.prior = f->prior};
    bare.precision = 32;
    bare.mode = -1;
    bare.n_samples = 4;
    for (int op = 0; op < OPS; op++) {
        if (op == OP_KL_CLOSED)
            continue;
        ASSERT_OK(ctx, call_forward(ctx, &bare, op));
        ASSERT_OK(ctx, call_backward(ctx, &bare, op));
    }
    call_destroy(f);
    f = call_create(ctx, &rng, MIXTURE, 3, 2, 2, 0, 32);
    const posterior_op ops[] = {OP_CHOSEN, OP_PATHWISE, OP_LOGPDF, OP_CHOOSE};
    for (int i = 0; i < 4; i++)
        call_run(ctx, f, ops[i]);
    call_destroy(f);
}

static int attempt(posterior_op op, int back, int precision, int64_t n)
{
    meter m;
    test_rng rng = {6};
    meter_init(&m);
    npagg_ctx *cold = meter_ctx(&m);
    ASSERT_OK(cold, npagg_ctx_set_threads(cold, precision == 32 ? 2 : 1));
    posterior_call *f =
        call_create(cold, &rng, op == OP_KL_CLOSED ? GAUSSIAN : MIXTURE, 3, 2, 3, 4, precision);
    call_poison(f);
    meter_fail_in(&m, n, 0);
    const npagg_status status = back ? call_backward(cold, f, op) : call_forward(cold, f, op);
    const int failed = m.failed > 0;
    meter_never_fail(&m);
    TEST_ASSERT_EQUAL_INT32_MESSAGE(failed ? NPAGG_E_NOMEM : NPAGG_OK, status, op_names[op]);
    if (failed) {
        TEST_ASSERT_NOT_NULL(strstr(npagg_ctx_error(cold), "no memory"));
        call_check_poison(f, op_names[op], __LINE__);
        call_run(cold, f, op);
        void *got = copy_outputs(f);
        call_run(ctx, f, op);
        ASSERT_SAME_BITS((int64_t)f->out_bytes, f->out, got);
        free(got);
    }
    call_destroy(f);
    npagg_ctx_destroy(cold);
    ASSERT_BALANCED(&m);
    return failed;
}

static void test_posterior_survives_every_failing_allocation(void)
{
    for (int op = 0; op < OPS; op++)
        for (int i = 0; i < (op == OP_CHOOSE ? 2 : 4); i++) {
            int64_t n = 1;
            while (attempt(op, i / 2, i % 2 ? 32 : 64, n))
                n++;
            TEST_ASSERT_GREATER_THAN_INT64_MESSAGE(1, n, op_names[op]);
        }
}

static void test_posterior_allocates_nothing_after_the_first_call(void)
{
    for (int threads = 1; threads <= 2; threads++) {
        meter m;
        test_rng rng = {7};
        meter_init(&m);
        npagg_ctx *warm = meter_ctx(&m);
        ASSERT_OK(warm, npagg_ctx_set_threads(warm, threads));
        posterior_call *f = call_create(warm, &rng, MIXTURE, 17, 3, 5, 6, 32);
        call_run(warm, f, OP_LOGPDF);
        const int64_t before = m.calls;
        for (int op = 0; op < OPS; op++)
            if (!call_lacks(f, op))
                call_run(warm, f, op);
        TEST_ASSERT_EQUAL_INT64(before, m.calls);
        call_destroy(f);
        npagg_ctx_destroy(warm);
        ASSERT_BALANCED(&m);
    }
}

static void check_finite(const posterior_call *f, const void *array, int64_t n, const char *what)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(call_get(f, array, i)))
            TEST_FAIL_MESSAGE(what);
}

static void check_outputs_finite(const posterior_call *f, const char *what)
{
    const int64_t s = f->n_sets * f->n_samples, bq = f->n_sets * f->count, bd = f->n_sets * f->d;
    check_finite(f, f->point, s * f->d, what);
    check_finite(f, f->sample, s, what);
    check_finite(f, f->set, f->n_sets, what);
    check_finite(f, f->mean, bd, what);
    check_finite(f, f->var, bd, what);
    check_finite(f, f->dq, bq, what);
    check_finite(f, f->dp, bq, what);
    check_finite(f, f->dz, s * f->d, what);
    check_finite(f, f->dlogw, s, what);
}

/* One of a few numbers, drawn anew each time. */
static void fill(const posterior_call *f, test_rng *rng, void *x, int64_t at, int64_t n,
                 const double *values, int count)
{
    for (int64_t i = at; i < at + n; i++)
        call_put(f, x, i, values[rng_int(rng, 0, count - 1)]);
}

static void make_extreme(posterior_call *f, test_rng *rng)
{
    const double means[] = {0, 1e30, -1e30, (double)FLT_MAX, -(double)FLT_MAX};
    const double vars[] = {1e-45, 1e-18, 1, 1e18, (double)FLT_MAX};
    const double weights[] = {0, -1, -1e5, -1e30, -(double)FLT_MAX};
    const int64_t kd = f->k * f->d, s = f->n_sets * f->n_samples;
    for (int64_t b = 0; b < 2 * f->n_sets; b++) {
        void *q = b % 2 ? f->q : f->p;
        const int64_t at = b / 2 * f->count;
        fill(f, rng, q, at, kd, means, 5);
        fill(f, rng, q, at + kd, kd, vars, 5);
        fill(f, rng, q, at + 2 * kd, f->count - 2 * kd, weights, 5);
        if (f->count > 2 * kd)
            call_put(f, q, at + 2 * kd + rng_int(rng, 0, f->k - 1), 0);
    }
    fill(f, rng, f->z, 0, s * f->d, means, 5);
    fill(f, rng, f->logw, 0, s, weights, 5);
    fill(f, rng, f->noise, 0, s * f->d, (const double[]){-5, 0, 5, 1e30}, 4);
}

static void test_posterior_in_float_is_finite_at_the_ends_of_float(void)
{
    const int64_t dims[] = {1, 128, 4096};
    for (int i = 0; i < 24; i++) {
        test_rng rng = {(uint64_t)i};
        posterior_call *f =
            call_create(ctx, &rng, i % 2 ? MIXTURE : GAUSSIAN, dims[i % 3], 1 + i % 5, 2, 6, 32);
        make_extreme(f, &rng);
        for (int op = 0; op < OPS; op++) {
            if (call_lacks(f, op))
                continue;
            call_run(ctx, f, op);
            check_outputs_finite(f, op_names[op]);
        }
        call_destroy(f);
    }
}

/* Doubles at the ends of double: values stay numbers too. */
static void test_posterior_values_in_double_are_finite_at_the_ends_of_double(void)
{
    const double means[] = {0, 1e308, -1e308}, vars[] = {5e-324, 1e-300, 1, 1e300};
    for (int i = 0; i < 12; i++) {
        test_rng rng = {(uint64_t)i};
        posterior_call *f = call_create(ctx, &rng, i % 2 ? MIXTURE : GAUSSIAN, 1 + i, 3, 2, 6, 64);
        const int64_t kd = f->k * f->d;
        for (int64_t b = 0; b < f->n_sets; b++) {
            fill(f, &rng, f->q, b * f->count, kd, means, 3);
            fill(f, &rng, f->q, b * f->count + kd, kd, vars, 4);
            fill(f, &rng, f->p, b * f->count, kd, means, 3);
            fill(f, &rng, f->p, b * f->count + kd, kd, vars, 4);
        }
        fill(f, &rng, f->z, 0, f->n_sets * f->n_samples * f->d, means, 3);
        for (int op = 0; op < OPS; op++) {
            if (call_lacks(f, op) || op == OP_MOMENTS)
                continue;
            memset(f->out, 0, f->out_bytes);
            ASSERT_OK(ctx, call_forward(ctx, f, op));
            check_outputs_finite(f, op_names[op]);
        }
        call_destroy(f);
    }
}

/* A component so far away that its slope is not a number has no share, and leaves no trace. */
static void test_posterior_component_beyond_double_leaves_gradients_finite(void)
{
    test_rng rng = {11};
    posterior_call *f = call_create(ctx, &rng, MIXTURE, 3, 2, 1, 4, 64);
    for (int64_t j = 3; j < 6; j++) {
        ((double *)f->q)[j] = ((double *)f->p)[j] = 1.7e308;
        ((double *)f->q)[6 + j] = ((double *)f->p)[6 + j] = 5e-324;
    }
    const posterior_op ops[] = {OP_LOGPDF, OP_KL_SAMPLED, OP_ENTROPY};
    for (int i = 0; i < 3; i++) {
        call_run(ctx, f, ops[i]);
        check_outputs_finite(f, op_names[ops[i]]);
    }
    for (int64_t s = 0; s < 4; s++)
        f->which[s] = 0;
    call_run(ctx, f, OP_PATHWISE);
    check_outputs_finite(f, "pathwise");
    call_destroy(f);
}

/* Weights of a far mixture in 128 .. 4096 dimensions: exp of any log density is 0 in double. */
static void test_posterior_far_from_every_component_still_has_responsibilities(void)
{
    for (int64_t d = 128; d <= 4096; d *= 2) {
        test_rng rng = {8};
        posterior_call *f = call_create(ctx, &rng, MIXTURE, d, 3, 1, 2, 32);
        for (int64_t j = 0; j < 2 * d; j++)
            call_put(f, f->z, j, 50 + call_get(f, f->z, j));
        call_put(f, f->dsample, 0, 1);
        call_put(f, f->dsample, 1, 1);
        call_run(ctx, f, OP_LOGPDF);
        double total = 0;
        for (int64_t k = 0; k < 3; k++)
            total += call_get(f, f->dq, 6 * d + k);
        ASSERT_CLOSE(2, total, 1e-6, 0);
        TEST_ASSERT_TRUE(call_get(f, f->sample, 0) < -1000 * (double)d / 4);
        check_outputs_finite(f, "far");
        call_destroy(f);
    }
}

static void test_posterior_of_large_batches_stays_within_its_arrays(void)
{
    const int64_t sizes[][4] = {
        {1, 3, 4096, 70}, {2000, 5, 3, 7}, {3, 1, 1, 20000}, {2, 300, 31, 301}};
    for (int i = 0; i < 4; i++) {
        test_rng rng = {9};
        posterior_call *f =
            call_create(ctx, &rng, MIXTURE, sizes[i][2], sizes[i][1], sizes[i][0], sizes[i][3], 32);
        for (int op = 0; op < OPS; op++)
            if (!call_lacks(f, op)) {
                call_run(ctx, f, op);
                check_outputs_finite(f, op_names[op]);
            }
        call_destroy(f);
    }
}

static void test_posterior_nan_in_a_gradient_comes_out_as_nan(void)
{
    test_rng rng = {10};
    posterior_call *f = call_create(ctx, &rng, MIXTURE, 3, 2, 2, 4, 64);
    for (int64_t i = 0; i < 24; i++)
        ((double *)f->dpoint)[i] = (double)NAN;
    ((double *)f->dset)[1] = ((double *)f->dsample)[7] = ((double *)f->dmean)[3] = (double)NAN;
    for (int op = 0; op < OP_CHOOSE; op++)
        if (!call_lacks(f, op)) {
            call_run(ctx, f, op);
            TEST_ASSERT_TRUE_MESSAGE(isnan(((double *)f->dq)[f->count]), op_names[op]);
        }
    call_destroy(f);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_posterior_gives_the_same_bits_on_any_number_of_threads);
    RUN_TEST(test_posterior_of_one_set_is_that_within_a_batch);
    RUN_TEST(test_posterior_of_no_sets_or_no_samples_is_fine);
    RUN_TEST(test_posterior_survives_every_failing_allocation);
    RUN_TEST(test_posterior_allocates_nothing_after_the_first_call);
    RUN_TEST(test_posterior_in_float_is_finite_at_the_ends_of_float);
    RUN_TEST(test_posterior_values_in_double_are_finite_at_the_ends_of_double);
    RUN_TEST(test_posterior_component_beyond_double_leaves_gradients_finite);
    RUN_TEST(test_posterior_far_from_every_component_still_has_responsibilities);
    RUN_TEST(test_posterior_of_large_batches_stays_within_its_arrays);
    RUN_TEST(test_posterior_nan_in_a_gradient_comes_out_as_nan);
    return UNITY_END();
}
