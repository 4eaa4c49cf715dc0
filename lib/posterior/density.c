#include "posterior/density.h"

#include <float.h>

#include "kernel/special.h"

np_density np_density_take(np_arena *arena, int64_t d, int64_t k)
{
    np_density q = {.d = d, .k = k, .post = np_post_take(arena, d, k)};
    q.isd = NP_TAKE(arena, k * d, double);
    q.level = NP_TAKE(arena, k, double);
    q.share = NP_TAKE(arena, k, double);
    return q;
}

void np_density_begin(np_density *q)
{
    const int64_t d = q->d;
    for (int64_t j = 0; j < q->k * d; j++)
        q->isd[j] = 1 / sqrt(q->post.var[j]);
    for (int64_t k = 0; k < q->k; k++)
        q->level[k] =
            q->post.logw[k] - 0.5 * ((double)d * NP_LOG_2PI + np_log_sum(d, q->post.var + k * d));
}

/* sum_d ((z - mean) / sd)^2, in four lanes so that additions need not wait for each other. */
static double sum_squares(int64_t d, const double *z, const double *mean, const double *isd)
{
    enum { LANES = 4 };
    double lane[LANES] = {0};
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES)
        for (int64_t l = 0; l < LANES; l++) {
            const double x = (z[j + l] - mean[j + l]) * isd[j + l];
            lane[l] += x * x;
        }
    for (int64_t l = 0; j < d; j++, l++) {
        const double x = (z[j] - mean[j]) * isd[j];
        lane[l] += x * x;
    }
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

/* Beyond the doubles the log density stays at their end, so that no difference of two is NaN. */
static double bound_below(double x)
{
    return x < -DBL_MAX ? -DBL_MAX : x;
}

double np_density_log(np_density *q, const double *z)
{
    for (int64_t k = 0; k < q->k; k++) {
        const int64_t at = k * q->d;
        const double squares = sum_squares(q->d, z, q->post.mean + at, q->isd + at);
        q->share[k] = bound_below(q->level[k] - 0.5 * squares);
    }
    return q->k == 1 ? q->share[0] : np_log_sum_exp(q->k, q->share);
}

void np_density_share(np_density *q, double log_q)
{
    for (int64_t k = 0; k < q->k; k++)
        q->share[k] = exp(q->share[k] - log_q);
}

static void push_component(int64_t d, double g, const double *z, const double *mean,
                           const double *isd, double *dmean, double *dvar)
{
    for (int64_t j = 0; j < d; j++) {
        const double x = (z[j] - mean[j]) * isd[j];
        dmean[j] += g * x * isd[j];
        dvar[j] += 0.5 * g * ((x * x - 1) * isd[j]) * isd[j];
    }
}

static void push_point(int64_t d, double g, const double *z, const double *mean, const double *isd,
                       double *dz)
{
    for (int64_t j = 0; j < d; j++)
        dz[j] -= g * ((z[j] - mean[j]) * isd[j]) * isd[j];
}

/* A component without a share is skipped: it may be so far away that 0 times its slope is no 0. */
void np_density_backward(const np_density *q, const double *z, double g, np_dpost *dq, double *dz)
{
    for (int64_t k = 0; k < q->k; k++) {
        const int64_t at = k * q->d;
        const double *mean = q->post.mean + at, *isd = q->isd + at, part = g * q->share[k];
        if (part == 0)
            continue;
        if (dq) {
            dq->logw[k] += part;
            push_component(q->d, part, z, mean, isd, dq->mean + at, dq->var + at);
        }
        if (dz)
            push_point(q->d, part, z, mean, isd, dz);
    }
}

np_slate *np_slates_take(np_arena *arena, int64_t d, int64_t k, int32_t workers)
{
    np_slate *slates = NP_TAKE(arena, workers, np_slate);
    for (int32_t w = 0; w < workers; w++) {
        np_slate slate = {np_density_take(arena, d, k),
                          np_density_take(arena, d, k),
                          np_dpost_take(arena, d, k),
                          np_dpost_take(arena, d, k),
                          NULL,
                          NULL};
        slate.z = NP_TAKE(arena, d, double);
        slate.dz = NP_TAKE(arena, d, double);
        if (slates)
            slates[w] = slate;
    }
    return slates;
}
