/*
 * KL(q || p), MATHS 7. One component: closed form,
 *   kappa = 1/2 sum_d [ r - 1 - log r + (mean - mean')^2 / var' ],  r = var / var'.
 * Mixtures: by samples, or matched, sum_k w_k (log w_k - log w'_k + kappa_k), an upper bound.
 */
#include <inttypes.h>
#include <math.h>

#include "kernel/special.h"
#include "posterior/posterior.h"

/* log w_k - log w'_k; the closed form has no weights. */
static double log_ratio(const np_posterior *op, const np_slate *slate, int64_t k)
{
    return op->mode == NPAGG_KL_CLOSED ? 0 : slate->q.post.logw[k] - slate->p.post.logw[k];
}

static double weight_of(const np_posterior *op, const np_slate *slate, int64_t k)
{
    return op->mode == NPAGG_KL_CLOSED ? 1 : exp(slate->q.post.logw[k]);
}

/*
 * kappa of component k. The logarithm of the product of the r is exactly 0 for q = p; ratios that
 * double cannot hold are left to a difference of two logarithms. slate->z is room for the r.
 */
static double component_kl(np_slate *slate, int64_t k)
{
    const int64_t d = slate->q.d;
    const double *m = slate->q.post.mean + k * d, *v = slate->q.post.var + k * d;
    const double *pm = slate->p.post.mean + k * d, *pv = slate->p.post.var + k * d;
    double sum = 0, least = 1;
    for (int64_t j = 0; j < d; j++) {
        const double x = (m[j] - pm[j]) / sqrt(pv[j]), r = v[j] / pv[j];
        sum += (v[j] - pv[j]) / pv[j] + x * x;
        least = r < least ? r : least;
        slate->z[j] = r;
    }
    if (!(sum < INFINITY))
        return sum;
    return 0.5 * (sum - (least > 0x1p-1000 ? np_log_sum(d, slate->z)
                                           : np_log_sum(d, v) - np_log_sum(d, pv)));
}

/* g times the gradient of kappa_k. */
static void push_kl(np_slate *slate, int64_t k, double g)
{
    const int64_t at = k * slate->q.d;
    for (int64_t j = at; j < at + slate->q.d; j++) {
        const double v = slate->q.post.var[j], pv = slate->p.post.var[j];
        const double x = (slate->q.post.mean[j] - slate->p.post.mean[j]) / pv;
        const double rise = (v - pv) / pv; /* r - 1 */
        slate->dq.mean[j] += g * x;
        slate->dp.mean[j] -= g * x;
        slate->dq.var[j] += 0.5 * g * rise / v;
        slate->dp.var[j] -= 0.5 * g * (rise / pv + x * x);
    }
}

static void load_both(const np_posterior *op, int64_t b, np_slate *slate)
{
    NP_REAL(np_posterior_load)(op, op->q, b, &slate->q.post);
    NP_REAL(np_posterior_load)(op, op->p, b, &slate->p.post);
}

static double matched_forward(const np_posterior *op, int64_t b, np_slate *slate)
{
    double sum = 0;
    load_both(op, b, slate);
    for (int64_t k = 0; k < op->k; k++) {
        const double w = weight_of(op, slate, k);
        if (w > 0)
            sum += w * (log_ratio(op, slate, k) + component_kl(slate, k));
    }
    return sum;
}

/* dlogw_k += g w_k (log w_k - log w'_k + kappa_k + 1), dlogw'_k -= g w_k, kappa_k with g w_k. */
static void matched_backward(const np_posterior *op, int64_t b, double g, np_slate *slate)
{
    load_both(op, b, slate);
    np_dpost_clear(op->d, op->k, &slate->dq);
    np_dpost_clear(op->d, op->k, &slate->dp);
    for (int64_t k = 0; k < op->k; k++) {
        const double part = g * weight_of(op, slate, k);
        if (part == 0)
            continue;
        push_kl(slate, k, part);
        if (op->mode == NPAGG_KL_CLOSED)
            continue;
        slate->dq.logw[k] += part * (log_ratio(op, slate, k) + component_kl(slate, k) + 1);
        slate->dp.logw[k] -= part;
    }
    NP_REAL(np_posterior_add)(op, &slate->dq, b, op->dq);
    NP_REAL(np_posterior_add)(op, &slate->dp, b, op->dp);
}

void NP_REAL(np_kl_forward)(const np_posterior *op, int64_t b, np_slate *slate)
{
    op->value[b] =
        np_saturate(op->mode == NPAGG_KL_SAMPLED ? NP_REAL(np_average_forward)(op, b, slate)
                                                 : matched_forward(op, b, slate));
}

void NP_REAL(np_kl_backward)(const np_posterior *op, int64_t b, np_slate *slate)
{
    const double g = (double)op->dvalue[b];
    if (op->mode == NPAGG_KL_SAMPLED)
        NP_REAL(np_average_backward)(op, b, g, slate);
    else
        matched_backward(op, b, g, slate);
}

/* What forward and backward both need. */
static npagg_status check_kind(const np_posterior *op)
{
    NP_TRY(NP_REAL(np_posterior_check_mode)(op, "kind"));
    if (op->mode == NPAGG_KL_CLOSED && op->k > 1)
        return np_fail(op->ctx, NPAGG_E_UNSUP,
                       "%s: the closed form is for one component, the prior has %" PRId64
                       "; want kind 1 (sampled) or 2 (matched)",
                       op->name, op->k);
    if (op->mode == NPAGG_KL_SAMPLED && op->n_samples < 1)
        return np_fail(op->ctx, NPAGG_E_ARG, "%s: n_samples = 0, want >= 1", op->name);
    return NPAGG_OK;
}

npagg_status NP_REAL(npagg_posterior_kl)(npagg_ctx *ctx, const npagg_prior *prior, int32_t kind,
                                         int64_t n_sets, int64_t n_samples, const real *q,
                                         const real *p, const real *z, const real *logw, real *kl)
{
    np_posterior op;
    NP_TRY(NP_REAL(np_posterior_begin)(ctx, prior, "posterior_kl", n_sets, n_samples, &op));
    op.mode = kind;
    op.q = q;
    op.p = p;
    op.z = z;
    op.logw = logw;
    op.value = kl;
    NP_TRY(check_kind(&op));
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "kl", kl, 1));
    NP_TRY(NP_REAL(np_posterior_check_q)(&op, "q", q));
    NP_TRY(NP_REAL(np_posterior_check_q)(&op, "p", p));
    if (kind == NPAGG_KL_SAMPLED) {
        NP_TRY(NP_REAL(np_posterior_check_finite)(&op, "z", z, op.d));
        NP_TRY(NP_REAL(np_posterior_check_finite)(&op, "logw", logw, 0));
    }
    return NP_REAL(np_posterior_run)(&op, NP_REAL(np_kl_forward));
}

npagg_status NP_REAL(npagg_posterior_kl_backward)(npagg_ctx *ctx, const npagg_prior *prior,
                                                  int32_t kind, int64_t n_sets, int64_t n_samples,
                                                  const real *q, const real *p, const real *z,
                                                  const real *logw, const real *dkl, real *dq,
                                                  real *dp, real *dz, real *dlogw)
{
    np_posterior op;
    NP_TRY(
        NP_REAL(np_posterior_begin)(ctx, prior, "posterior_kl_backward", n_sets, n_samples, &op));
    op.mode = kind;
    op.q = q;
    op.p = p;
    op.z = z;
    op.logw = logw;
    op.dvalue = dkl;
    op.dq = dq;
    op.dp = dp;
    op.dz = dz;
    op.dlogw = dlogw;
    NP_TRY(check_kind(&op));
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "q", q, op.count));
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "p", p, op.count));
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "dkl", dkl, 1));
    if (kind == NPAGG_KL_SAMPLED) {
        NP_TRY(NP_REAL(np_posterior_check_array)(&op, "z", z, n_samples));
        NP_TRY(NP_REAL(np_posterior_check_array)(&op, "logw", logw, n_samples));
    }
    return NP_REAL(np_posterior_run)(&op, NP_REAL(np_kl_backward));
}
