/*
 * Samples, MATHS 7: z_s = mean_k + sd_k eps_s with k = k(s), and log weights log varpi_s.
 *   stratified  k(s) = s mod K, varpi_s = w_k / S_k
 *   chosen      k(s) = which[b,s], varpi_s = 1 / S
 *   pathwise    as chosen; the gradient is shared by responsibility
 */
#include <inttypes.h>
#include <math.h>

#include "posterior/posterior.h"

static int is_stratified(const np_posterior *op)
{
    return op->mode == NPAGG_SAMPLE_STRATIFIED;
}

/* k(s) of set b. */
static int64_t component_of(const np_posterior *op, int64_t b, int64_t s)
{
    if (op->k == 1)
        return 0;
    return is_stratified(op) ? s % op->k : op->which[b * op->n_samples + s];
}

/* S_k: how many s of 0..S-1 have s mod K = k. */
static int64_t stratum_count(const np_posterior *op, int64_t k)
{
    return (op->n_samples - 1 - k) / op->k + 1;
}

static void write_log_weights(const np_posterior *op, int64_t b)
{
    const int64_t n = op->n_samples;
    const real *logw = op->q + b * op->count + 2 * op->k * op->d;
    for (int64_t s = 0; s < n; s++) {
        const int64_t k = s % op->k;
        const double x = is_stratified(op) ? (op->has_logw ? (double)logw[k] : 0) -
                                                 log((double)stratum_count(op, k))
                                           : -log((double)n);
        op->drawn_logw[b * n + s] = np_saturate(x);
    }
}

void NP_REAL(np_sample_forward)(const np_posterior *op, int64_t b, np_slate *slate)
{
    const int64_t d = op->d, kd = op->k * d;
    (void)slate;
    for (int64_t s = 0; s < op->n_samples; s++) {
        const int64_t row = (b * op->n_samples + s) * d;
        const real *mean = op->q + b * op->count + component_of(op, b, s) * d, *var = mean + kd;
        for (int64_t j = 0; j < d; j++)
            op->drawn[row + j] =
                np_saturate((double)mean[j] + sqrt((double)var[j]) * (double)op->noise[row + j]);
    }
    if (op->drawn_logw)
        write_log_weights(op, b);
}

/* dmean_k += dz, dsd_k += dz eps. */
static void push_noise(int64_t d, const real *dz, const real *eps, const double *isd, double *dmean,
                       double *dvar)
{
    for (int64_t j = 0; j < d; j++) {
        dmean[j] += (double)dz[j];
        dvar[j] += 0.5 * (double)dz[j] * (double)eps[j] * isd[j];
    }
}

/* dmean_k += rho_k dz, dsd_k += rho_k dz (z - mean_k) / sd_k. */
static void push_share(int64_t d, double rho, const real *dz, const double *z, const double *mean,
                       const double *isd, double *dmean, double *dvar)
{
    for (int64_t j = 0; j < d; j++) {
        const double x = (z[j] - mean[j]) * isd[j], g = rho * (double)dz[j];
        dmean[j] += g;
        dvar[j] += 0.5 * g * x * isd[j];
    }
}

/* Sample s of component c again, in double, and its gradient to every component. */
static void spread(np_slate *slate, int64_t c, const real *dz, const real *eps)
{
    const np_density *q = &slate->q;
    const int64_t d = q->d;
    for (int64_t j = 0; j < d; j++)
        slate->z[j] = q->post.mean[c * d + j] + sqrt(q->post.var[c * d + j]) * (double)eps[j];
    np_density_share(&slate->q, np_density_log(&slate->q, slate->z));
    for (int64_t k = 0; k < q->k; k++)
        if (q->share[k] != 0)
            push_share(d, q->share[k], dz, slate->z, q->post.mean + k * d, q->isd + k * d,
                       slate->dq.mean + k * d, slate->dq.var + k * d);
}

static void push_samples(const np_posterior *op, int64_t b, np_slate *slate)
{
    const int64_t d = op->d;
    for (int64_t s = 0; s < op->n_samples; s++) {
        const int64_t k = component_of(op, b, s), row = (b * op->n_samples + s) * d;
        if (op->mode == NPAGG_SAMPLE_PATHWISE && op->k > 1)
            spread(slate, k, op->ddrawn + row, op->noise + row);
        else
            push_noise(d, op->ddrawn + row, op->noise + row, slate->q.isd + k * d,
                       slate->dq.mean + k * d, slate->dq.var + k * d);
    }
}

void NP_REAL(np_sample_backward)(const np_posterior *op, int64_t b, np_slate *slate)
{
    NP_REAL(np_posterior_density)(op, op->q, b, &slate->q);
    np_dpost_clear(op->d, op->k, &slate->dq);
    if (op->ddrawn)
        push_samples(op, b, slate);
    for (int64_t s = 0; op->ddrawn_logw && is_stratified(op) && s < op->n_samples; s++)
        slate->dq.logw[s % op->k] += (double)op->ddrawn_logw[b * op->n_samples + s];
    NP_REAL(np_posterior_add)(op, &slate->dq, b, op->dq);
}

/* which is an index: it is looked at also where values are not. */
static npagg_status check_which(const np_posterior *op)
{
    const int64_t n = op->n_samples;
    if (is_stratified(op) || op->k == 1)
        return NPAGG_OK;
    NP_TRY(NP_REAL(np_posterior_check_array)(op, "which", op->which, n));
    for (int64_t i = 0; i < op->n_sets * n; i++)
        if (op->which[i] < 0 || op->which[i] >= op->k)
            return np_fail(op->ctx, NPAGG_E_ARG,
                           "%s: which[%" PRId64 ",%" PRId64 "] = %d, want 0..%" PRId64, op->name,
                           i / n, i % n, (int)op->which[i], op->k - 1);
    return NPAGG_OK;
}

/* What forward and backward both need. */
static npagg_status check_modes(const np_posterior *op)
{
    NP_TRY(NP_REAL(np_posterior_check_mode)(op, "mode"));
    if (is_stratified(op) && op->n_samples < op->k)
        return np_fail(op->ctx, NPAGG_E_ARG,
                       "%s: n_samples = %" PRId64 ", want >= %" PRId64
                       ": stratified sampling takes every component at least once",
                       op->name, op->n_samples, op->k);
    return check_which(op);
}

npagg_status NP_REAL(npagg_posterior_sample)(npagg_ctx *ctx, const npagg_prior *prior, int32_t mode,
                                             int64_t n_sets, int64_t n_samples, const real *q,
                                             const real *noise, const int32_t *which, real *z,
                                             real *logw)
{
    np_posterior op;
    NP_TRY(NP_REAL(np_posterior_begin)(ctx, prior, "posterior_sample", n_sets, n_samples, &op));
    op.mode = mode;
    op.q = q;
    op.noise = noise;
    op.which = which;
    op.drawn = z;
    op.drawn_logw = logw;
    NP_TRY(check_modes(&op));
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "z", z, n_samples));
    NP_TRY(NP_REAL(np_posterior_check_q)(&op, "q", q));
    NP_TRY(NP_REAL(np_posterior_check_finite)(&op, "noise", noise, op.d));
    return NP_REAL(np_posterior_run)(&op, NP_REAL(np_sample_forward));
}

npagg_status NP_REAL(npagg_posterior_sample_backward)(npagg_ctx *ctx, const npagg_prior *prior,
                                                      int32_t mode, int64_t n_sets,
                                                      int64_t n_samples, const real *q,
                                                      const real *noise, const int32_t *which,
                                                      const real *dz, const real *dlogw, real *dq)
{
    np_posterior op;
    NP_TRY(NP_REAL(np_posterior_begin)(ctx, prior, "posterior_sample_backward", n_sets, n_samples,
                                       &op));
    op.mode = mode;
    op.q = q;
    op.noise = noise;
    op.which = which;
    op.ddrawn = dz;
    op.ddrawn_logw = dlogw;
    op.dq = dq;
    NP_TRY(check_modes(&op));
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "q", q, op.count));
    NP_TRY(NP_REAL(np_posterior_check_array)(&op, "noise", noise, n_samples));
    return NP_REAL(np_posterior_run)(&op, NP_REAL(np_sample_backward));
}
