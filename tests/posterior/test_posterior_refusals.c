/* Bad arguments are refused by name, index and value, and nothing is written. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "posterior_call.h"

enum { B = 3, S = 5, K = 5, D = 6 };

static npagg_ctx *ctx;
static posterior_call *good;

static void begin(int precision)
{
    test_rng rng = {1};
    good = call_create(ctx, &rng, MIXTURE, D, K, B, S, precision);
}

static void end(void)
{
    call_destroy(good);
    good = NULL;
}

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    begin(32);
}

void tearDown(void)
{
    end();
    npagg_ctx_destroy(ctx);
    ctx = NULL;
}

static void refuse(const posterior_call *bad, posterior_op op, int back, npagg_status status,
                   const char *text)
{
    call_poison(good);
    const npagg_status got = back ? call_backward(ctx, bad, op) : call_forward(ctx, bad, op);
    check_status(ctx, status, got, text, op_names[op], __LINE__);
    call_check_poison(good, text, __LINE__);
}

static void refuse_both(const posterior_call *bad, posterior_op op, npagg_status status,
                        const char *text)
{
    refuse(bad, op, 0, status, text);
    if (op != OP_CHOOSE)
        refuse(bad, op, 1, status, text);
}

static void test_posterior_refuses_bad_sizes(void)
{
    for (int op = 0; op < OPS; op++) {
        posterior_call bad = *good;
        bad.n_sets = -1;
        refuse_both(&bad, op, NPAGG_E_ARG, "n_sets = -1, want >= 0");
        bad.n_sets = INT64_MAX / 8;
        refuse_both(&bad, op, NPAGG_E_ARG, "does not fit into memory addresses");
        if (op == OP_MOMENTS)
            continue;
        bad = *good;
        bad.n_samples = -2;
        refuse_both(&bad, op, NPAGG_E_ARG, "n_samples = -2, want >= 0");
        bad.n_samples = INT64_MAX / 2;
        refuse_both(&bad, op, NPAGG_E_ARG, "does not fit into memory addresses");
    }
}

static void test_posterior_refuses_too_few_samples(void)
{
    posterior_call bad = *good;
    bad.n_samples = 4;
    refuse_both(&bad, OP_STRATIFIED, NPAGG_E_ARG, "n_samples = 4, want >= 5");
    bad.n_samples = 0;
    refuse_both(&bad, OP_KL_SAMPLED, NPAGG_E_ARG, "n_samples = 0, want >= 1");
    refuse_both(&bad, OP_ENTROPY, NPAGG_E_ARG, "n_samples = 0, want >= 1 for a mixture");
}

static void test_posterior_refuses_modes_it_does_not_know(void)
{
    posterior_call bad = *good;
    bad.mode = 3;
    refuse_both(&bad, OP_CHOSEN, NPAGG_E_ARG, "mode = 3, want 0..2");
    refuse_both(&bad, OP_KL_SAMPLED, NPAGG_E_ARG, "kind = 3, want 0..2");
    refuse_both(good, OP_KL_CLOSED, NPAGG_E_UNSUP, "one component, the prior has 5");
}

static void test_posterior_refuses_components_that_are_not_there(void)
{
    const int32_t wrong[] = {7, 5, -1, INT32_MAX, INT32_MIN};
    const char *const texts[] = {"which[1,3] = 7, want 0..4", "which[1,3] = 5, want 0..4",
                                 "which[1,3] = -1, want 0..4", "which[1,3] = 2147483647",
                                 "which[1,3] = -2147483648"};
    for (int i = 0; i < 5; i++) {
        good->which[S + 3] = wrong[i];
        refuse_both(good, OP_CHOSEN, NPAGG_E_ARG, texts[i]);
        refuse_both(good, OP_PATHWISE, NPAGG_E_ARG, texts[i]);
        ASSERT_OK(ctx, call_forward(ctx, good, OP_STRATIFIED));
    }
}

/* Whether op reads the array at this place of the struct. */
static void refuse_value(posterior_op op, void *array, int64_t i, double value, const char *text)
{
    const double before = call_get(good, array, i);
    call_put(good, array, i, value);
    refuse(good, op, 0, NPAGG_E_NUMERIC, text);
    call_put(good, array, i, before);
    ASSERT_OK(ctx, call_forward(ctx, good, op));
}

static void test_posterior_names_the_bad_value_of_q(void)
{
    const int64_t at = 2 * good->count, var = at + K * D, logw = at + 2 * K * D;
    for (int i = 0; i < 2 * OPS; i++) {
        const posterior_op op = i / 2;
        end();
        begin(i % 2 ? 64 : 32);
        if (call_lacks(good, op))
            continue;
        refuse_value(op, good->q, var + 5, -1, "q[2] var[0,5] = -1, want > 0");
        refuse_value(op, good->q, var + 2 * D, 0, "q[2] var[2,0] = 0, want > 0");
        refuse_value(op, good->q, var, (double)NAN, "q[2] var[0,0] = ");
        refuse_value(op, good->q, var, (double)INFINITY, "q[2] var[0,0] = inf, want finite");
        refuse_value(op, good->q, at + D + 1, (double)NAN, "q[2] mean[1,1] = ");
        refuse_value(op, good->q, 0, -(double)INFINITY, "q[0] mean[0,0] = -inf, want finite");
        refuse_value(op, good->q, logw + 4, -(double)INFINITY, "q[2] logw[4] = -inf, want finite");
    }
}

static void test_posterior_names_the_bad_value_of_other_arrays(void)
{
    const int64_t row = (S + 2) * D + 4;
    const posterior_op with_z[] = {OP_LOGPDF, OP_KL_SAMPLED, OP_ENTROPY};
    for (int i = 0; i < 3; i++)
        refuse_value(with_z[i], good->z, row, (double)INFINITY, "z[1,2,4] = inf, want finite");
    refuse_value(OP_KL_SAMPLED, good->logw, S + 2, (double)NAN, "logw[1,2] = ");
    refuse_value(OP_ENTROPY, good->logw, S + 2, -(double)INFINITY, "logw[1,2] = -inf, want finite");
    refuse_value(OP_KL_MATCHED, good->p, K * D, -3, "p[0] var[0,0] = -3, want > 0");
    refuse_value(OP_KL_SAMPLED, good->p, 1, (double)NAN, "p[0] mean[0,1] = ");
    for (int op = OP_STRATIFIED; op <= OP_PATHWISE; op++)
        refuse_value(op, good->noise, row, (double)NAN, "noise[1,2,4] = ");
    refuse_value(OP_CHOOSE, good->u, S + 1, 1, "u[1,1] = 1, want >= 0 and < 1");
    refuse_value(OP_CHOOSE, good->u, S + 1, -0.5, "u[1,1] = -0.5");
    refuse_value(OP_CHOOSE, good->u, 0, (double)NAN, "u[0,0] = ");
}

static void refuse_null(posterior_op op, size_t field, int back, const char *text)
{
    posterior_call bad = *good;
    void *none = NULL;
    memcpy((char *)&bad + field, &none, sizeof none);
    refuse(&bad, op, back, NPAGG_E_ARG, text);
}

#define REFUSE_NULL(op, field, back, text)                                                         \
    refuse_null((op), offsetof(posterior_call, field), (back), (text))

static void test_posterior_refuses_null_arrays(void)
{
    for (int op = OP_STRATIFIED; op <= OP_PATHWISE; op++) {
        REFUSE_NULL(op, point, 0, "posterior_sample: z is NULL");
        for (int back = 0; back < 2; back++) {
            REFUSE_NULL(op, noise, back, "noise is NULL");
            if (op != OP_STRATIFIED)
                REFUSE_NULL(op, which, back, "which is NULL");
        }
    }
    for (int back = 0; back < 2; back++) {
        REFUSE_NULL(OP_LOGPDF, z, back, "z is NULL");
        REFUSE_NULL(OP_KL_SAMPLED, z, back, "z is NULL");
        REFUSE_NULL(OP_KL_SAMPLED, logw, back, "logw is NULL");
        REFUSE_NULL(OP_KL_MATCHED, p, back, "p is NULL");
        REFUSE_NULL(OP_ENTROPY, z, back, "z is NULL");
        REFUSE_NULL(OP_ENTROPY, logw, back, "logw is NULL");
        for (int op = 0; op < OP_CHOOSE; op++)
            if (!call_lacks(good, op))
                REFUSE_NULL(op, q, back, "q is NULL");
    }
    REFUSE_NULL(OP_LOGPDF, sample, 0, "logq is NULL");
    REFUSE_NULL(OP_LOGPDF, dsample, 1, "dlogq is NULL");
    REFUSE_NULL(OP_KL_SAMPLED, set, 0, "kl is NULL");
    REFUSE_NULL(OP_KL_MATCHED, dset, 1, "dkl is NULL");
    REFUSE_NULL(OP_ENTROPY, set, 0, "entropy is NULL");
    REFUSE_NULL(OP_ENTROPY, dset, 1, "dentropy is NULL");
    REFUSE_NULL(OP_CHOOSE, u, 0, "u is NULL");
    REFUSE_NULL(OP_CHOOSE, chosen, 0, "which is NULL");
    REFUSE_NULL(OP_CHOOSE, q, 0, "q is NULL");
}

static void test_posterior_refuses_null_handles(void)
{
    for (int op = 0; op < OPS; op++) {
        REFUSE_NULL(op, prior, 0, "prior is NULL");
        call_poison(good);
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, call_forward(NULL, good, op));
        call_check_poison(good, op_names[op], __LINE__);
        if (op == OP_CHOOSE)
            continue;
        REFUSE_NULL(op, prior, 1, "prior is NULL");
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, call_backward(NULL, good, op));
    }
}

static void test_posterior_sample_without_log_weights_is_fine(void)
{
    posterior_call some = *good;
    some.sample = NULL;
    for (int op = OP_STRATIFIED; op <= OP_PATHWISE; op++)
        ASSERT_OK(ctx, call_forward(ctx, &some, op));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_posterior_refuses_bad_sizes);
    RUN_TEST(test_posterior_refuses_too_few_samples);
    RUN_TEST(test_posterior_refuses_modes_it_does_not_know);
    RUN_TEST(test_posterior_refuses_components_that_are_not_there);
    RUN_TEST(test_posterior_names_the_bad_value_of_q);
    RUN_TEST(test_posterior_names_the_bad_value_of_other_arrays);
    RUN_TEST(test_posterior_refuses_null_arrays);
    RUN_TEST(test_posterior_refuses_null_handles);
    RUN_TEST(test_posterior_sample_without_log_weights_is_fine);
    return UNITY_END();
}
