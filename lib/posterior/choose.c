/* Components of samples from uniform numbers, by inverting the distribution of the weights. */
#include <inttypes.h>
#include <math.h>

#include "posterior/posterior.h"

/*
 * cum [K]: running sums of the weights, relative to the largest. Their own total takes the place of
 * 1, so weights that were rounded need not add up to it.
 */
static void sum_weights(int64_t n, const double *logw, double *cum)
{
    double top = logw[0], sum = 0;
    for (int64_t k = 1; k < n; k++)
        top = logw[k] > top ? logw[k] : top;
    for (int64_t k = 0; k < n; k++)
        cum[k] = sum += exp(logw[k] - top);
}

/* The first k whose running sum is above u times the total; that is never one of weight 0. */
static int32_t find_component(int64_t n, const double *cum, double u)
{
    const double level = u * cum[n - 1];
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const int64_t k = low + (high - low) / 2;
        if (cum[k] > level)
            high = k;
        else
            low = k + 1;
    }
    return (int32_t)low;
}

void NP_REAL(np_choose_forward)(const np_posterior *op, int64_t b, np_slate *slate)
{
    double *cum = slate->q.share;
    NP_REAL(np_posterior_load)(op, op->q, b, &slate->q.post);
    sum_weights(op->k, slate->q.post.logw, cum);
    for (int64_t i = b * op->n_samples; i < (b + 1) * op->n_samples; i++)
        op->chosen[i] = find_component(op->k, cum, (double)op->u[i]);
}

static npagg_status check_uniform(const np_posterior *op)
{
    const int64_t n = op->n_samples;
    NP_TRY(NP_REAL(np_posterior_check_array)(op, "u", op->u, n));
    for (int64_t i = 0; i < op->n_sets * n; i++)
        if (!(op->u[i] >= 0 && op->u[i] < 1))
            return np_fail(op->ctx, NPAGG_E_NUMERIC,
                           "%s: u[%" PRId64 ",%" PRId64 "] = %.9g, want >= 0 and < 1", op->name,
                           i / n, i % n, (double)op->u[i]);
    return NPAGG_OK;
}

npagg_status NP_REAL(npagg_posterior_choose)(npagg_ctx *ctx, const npagg_prior *prior,
                                             int64_t n_sets, int64_t n_samples, const real *q,
                                             const real *u, int32_t *which)
{
    np_posterior op;
    NP_TRY(NP_REAL(np_posterior_begin)(ctx, prior, "posterior_choose", n_sets, n_samples, &op));
    op.q = q;
    op.u = u;
    op.chosen = which;
    if (op.k > INT32_MAX)
        return np_fail(ctx, NPAGG_E_UNSUP, "posterior_choose: %" PRId64 " components", op.k);
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "which", which, n_samples));
    NP_TRY(NP_REAL(np_posterior_check_q)(&op, "q", q));
    NP_TRY(check_uniform(&op));
    return NP_REAL(np_posterior_run)(&op, NP_REAL(np_choose_forward));
}
