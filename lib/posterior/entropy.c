/*
 * Entropy, MATHS 7: 1/2 sum_d (1 + log 2 pi var) for one component, -sum_s varpi_s log q(z_s) for
 * mixtures.
 */
#include "kernel/special.h"
#include "posterior/posterior.h"

static double closed_forward(const np_posterior *op, int64_t b, np_slate *slate)
{
    NP_REAL(np_posterior_load)(op, op->q, b, &slate->q.post);
    return 0.5 * ((double)op->d * (1 + NP_LOG_2PI) + np_log_sum(op->d, slate->q.post.var));
}

static void closed_backward(const np_posterior *op, int64_t b, double g, np_slate *slate)
{
    NP_REAL(np_posterior_load)(op, op->q, b, &slate->q.post);
    np_dpost_clear(op->d, op->k, &slate->dq);
    for (int64_t j = 0; j < op->d; j++)
        slate->dq.var[j] = 0.5 * g / slate->q.post.var[j];
    NP_REAL(np_posterior_add)(op, &slate->dq, b, op->dq);
}

void NP_REAL(np_entropy_forward)(const np_posterior *op, int64_t b, np_slate *slate)
{
    op->value[b] = np_saturate(op->k == 1 ? closed_forward(op, b, slate)
                                          : -NP_REAL(np_average_forward)(op, b, slate));
}

void NP_REAL(np_entropy_backward)(const np_posterior *op, int64_t b, np_slate *slate)
{
    const double g = (double)op->dvalue[b];
    if (op->k == 1)
        closed_backward(op, b, g, slate);
    else
        NP_REAL(np_average_backward)(op, b, -g, slate);
}

static npagg_status check_samples(const np_posterior *op)
{
    if (op->k > 1 && op->n_samples < 1)
        return np_fail(op->ctx, NPAGG_E_ARG, "%s: n_samples = 0, want >= 1 for a mixture",
                       op->name);
    return NPAGG_OK;
}

npagg_status NP_REAL(npagg_posterior_entropy)(npagg_ctx *ctx, const npagg_prior *prior,
                                              int64_t n_sets, int64_t n_samples, const real *q,
                                              const real *z, const real *logw, real *entropy)
{
    np_posterior op;
    NP_TRY(NP_REAL(np_posterior_begin)(ctx, prior, "posterior_entropy", n_sets, n_samples, &op));
    op.q = q;
    op.z = z;
    op.logw = logw;
    op.value = entropy;
    NP_TRY(check_samples(&op));
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "entropy", entropy, 1));
    NP_TRY(NP_REAL(np_posterior_check_q)(&op, "q", q));
    if (op.k > 1) {
        NP_TRY(NP_REAL(np_posterior_check_finite)(&op, "z", z, op.d));
        NP_TRY(NP_REAL(np_posterior_check_finite)(&op, "logw", logw, 0));
    }
    return NP_REAL(np_posterior_run)(&op, NP_REAL(np_entropy_forward));
}

npagg_status NP_REAL(npagg_posterior_entropy_backward)(npagg_ctx *ctx, const npagg_prior *prior,
                                                       int64_t n_sets, int64_t n_samples,
                                                       const real *q, const real *z,
                                                       const real *logw, const real *dentropy,
                                                       real *dq, real *dz, real *dlogw)
{
    np_posterior op;
    NP_TRY(NP_REAL(np_posterior_begin)(ctx, prior, "posterior_entropy_backward", n_sets, n_samples,
                                       &op));
    op.q = q;
    op.z = z;
    op.logw = logw;
    op.dvalue = dentropy;
    op.dq = dq;
    op.dz = dz;
    op.dlogw = dlogw;
    NP_TRY(check_samples(&op));
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "q", q, op.count));
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "dentropy", dentropy, 1));
    if (op.k > 1) {
        NP_TRY(NP_REAL(np_posterior_check_array)(&op, "z", z, n_samples));
        NP_TRY(NP_REAL(np_posterior_check_array)(&op, "logw", logw, n_samples));
    }
    return NP_REAL(np_posterior_run)(&op, NP_REAL(np_entropy_backward));
}
