/* Mean and variance of a posterior, (M1), and their adjoint (A13). */
#include "posterior/posterior.h"

static void write_row(int64_t d, const double *x, int64_t b, real *y)
{
    for (int64_t j = 0; y && j < d; j++)
        y[b * d + j] = np_saturate(x[j]);
}

void NP_REAL(np_mixmoments_forward)(const np_posterior *op, int64_t b, np_slate *slate)
{
    np_post *post = &slate->q.post;
    NP_REAL(np_posterior_load)(op, op->q, b, post);
    np_moments_forward(&np_dims_plain, op->d, op->k, 1, post);
    write_row(op->d, post->E, b, op->mean);
    write_row(op->d, post->V, b, op->var);
}

/* One component: its mean and var are the moments, whatever its weight. */
void NP_REAL(np_mixmoments_backward)(const np_posterior *op, int64_t b, np_slate *slate)
{
    np_post *post = &slate->q.post;
    NP_REAL(np_posterior_load)(op, op->q, b, post);
    np_moments_forward(&np_dims_plain, op->d, op->k, 1, post);
    np_dpost_clear(op->d, op->k, &slate->dq);
    if (op->dmean)
        NP_REAL(np_widen)(op->d, op->dmean + b * op->d, slate->dq.E);
    if (op->dvar)
        NP_REAL(np_widen)(op->d, op->dvar + b * op->d, slate->dq.V);
    np_moments_backward(&np_dims_plain, op->d, op->k, post, &slate->dq);
    if (op->k == 1)
        slate->dq.logw[0] = 0;
    NP_REAL(np_posterior_add)(op, &slate->dq, b, op->dq);
}

npagg_status NP_REAL(npagg_posterior_moments)(npagg_ctx *ctx, const npagg_prior *prior,
                                              int64_t n_sets, const real *q, real *mean, real *var)
{
    np_posterior op;
    NP_TRY(NP_REAL(np_posterior_begin)(ctx, prior, "posterior_moments", n_sets, 0, &op));
    op.q = q;
    op.mean = mean;
    op.var = var;
    NP_TRY(NP_REAL(np_posterior_check_q)(&op, "q", q));
    return NP_REAL(np_posterior_run)(&op, NP_REAL(np_mixmoments_forward));
}

npagg_status NP_REAL(npagg_posterior_moments_backward)(npagg_ctx *ctx, const npagg_prior *prior,
                                                       int64_t n_sets, const real *q,
                                                       const real *dmean, const real *dvar,
                                                       real *dq)
{
    np_posterior op;
    NP_TRY(NP_REAL(np_posterior_begin)(ctx, prior, "posterior_moments_backward", n_sets, 0, &op));
    op.q = q;
    op.dmean = dmean;
    op.dvar = dvar;
    op.dq = dq;
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "q", q, op.count));
    return NP_REAL(np_posterior_run)(&op, NP_REAL(np_mixmoments_backward));
}
