/* log q(z), MATHS 7: logsumexp over k of log w_k + log N_k(z). */
#include <string.h>

#include "posterior/posterior.h"

void NP_REAL(np_logpdf_forward)(const np_posterior *op, int64_t b, np_slate *slate)
{
    NP_REAL(np_posterior_density)(op, op->q, b, &slate->q);
    for (int64_t i = b * op->n_samples; i < (b + 1) * op->n_samples; i++) {
        NP_REAL(np_widen)(op->d, op->z + i * op->d, slate->z);
        op->value[i] = np_saturate(np_density_log(&slate->q, slate->z));
    }
}

void NP_REAL(np_logpdf_backward)(const np_posterior *op, int64_t b, np_slate *slate)
{
    const int64_t d = op->d;
    NP_REAL(np_posterior_density)(op, op->q, b, &slate->q);
    np_dpost_clear(d, op->k, &slate->dq);
    for (int64_t i = b * op->n_samples; i < (b + 1) * op->n_samples; i++) {
        NP_REAL(np_widen)(d, op->z + i * d, slate->z);
        memset(slate->dz, 0, (size_t)d * sizeof(double));
        np_density_share(&slate->q, np_density_log(&slate->q, slate->z));
        np_density_backward(&slate->q, slate->z, (double)op->dvalue[i], &slate->dq, slate->dz);
        if (op->dz)
            NP_REAL(np_add)(d, slate->dz, op->dz + i * d);
    }
    NP_REAL(np_posterior_add)(op, &slate->dq, b, op->dq);
}

npagg_status NP_REAL(npagg_posterior_logpdf)(npagg_ctx *ctx, const npagg_prior *prior,
                                             int64_t n_sets, int64_t n_samples, const real *q,
                                             const real *z, real *logq)
{
    np_posterior op;
    NP_TRY(NP_REAL(np_posterior_begin)(ctx, prior, "posterior_logpdf", n_sets, n_samples, &op));
    op.q = q;
    op.z = z;
    op.value = logq;
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "logq", logq, n_samples));
    NP_TRY(NP_REAL(np_posterior_check_q)(&op, "q", q));
    NP_TRY(NP_REAL(np_posterior_check_finite)(&op, "z", z, op.d));
    return NP_REAL(np_posterior_run)(&op, NP_REAL(np_logpdf_forward));
}

npagg_status NP_REAL(npagg_posterior_logpdf_backward)(npagg_ctx *ctx, const npagg_prior *prior,
                                                      int64_t n_sets, int64_t n_samples,
                                                      const real *q, const real *z,
                                                      const real *dlogq, real *dq, real *dz)
{
    np_posterior op;
    NP_TRY(NP_REAL(np_posterior_begin)(ctx, prior, "posterior_logpdf_backward", n_sets, n_samples,
                                       &op));
    op.q = q;
    op.z = z;
    op.dvalue = dlogq;
    op.dq = dq;
    op.dz = dz;
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "q", q, op.count));
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "z", z, n_samples));
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "dlogq", dlogq, n_samples));
    return NP_REAL(np_posterior_run)(&op, NP_REAL(np_logpdf_backward));
}
