/* Weighted averages of log densities over samples: the sampled KL, and the entropy of mixtures. */
#include <math.h>
#include <string.h>

#include "posterior/posterior.h"

static void load_densities(const np_posterior *op, int64_t b, np_slate *slate)
{
    NP_REAL(np_posterior_density)(op, op->q, b, &slate->q);
    if (op->p)
        NP_REAL(np_posterior_density)(op, op->p, b, &slate->p);
}

double NP_REAL(np_average_forward)(const np_posterior *op, int64_t b, np_slate *slate)
{
    double sum = 0;
    load_densities(op, b, slate);
    for (int64_t i = b * op->n_samples; i < (b + 1) * op->n_samples; i++) {
        NP_REAL(np_widen)(op->d, op->z + i * op->d, slate->z);
        const double log_q = np_density_log(&slate->q, slate->z);
        const double log_p = op->p ? np_density_log(&slate->p, slate->z) : 0;
        sum += exp((double)op->logw[i]) * (log_q - log_p);
    }
    return sum;
}

/* One sample of weight varpi: its log q - log p, and g varpi times the gradient of that. */
static double push_sample(const np_posterior *op, double g, np_slate *slate)
{
    const double log_q = np_density_log(&slate->q, slate->z);
    memset(slate->dz, 0, (size_t)op->d * sizeof(double));
    np_density_share(&slate->q, log_q);
    np_density_backward(&slate->q, slate->z, g, &slate->dq, slate->dz);
    if (!op->p)
        return log_q;
    const double log_p = np_density_log(&slate->p, slate->z);
    np_density_share(&slate->p, log_p);
    np_density_backward(&slate->p, slate->z, -g, &slate->dp, slate->dz);
    return log_q - log_p;
}

void NP_REAL(np_average_backward)(const np_posterior *op, int64_t b, double g, np_slate *slate)
{
    const int64_t d = op->d;
    load_densities(op, b, slate);
    np_dpost_clear(d, op->k, &slate->dq);
    np_dpost_clear(d, op->k, &slate->dp);
    for (int64_t i = b * op->n_samples; i < (b + 1) * op->n_samples; i++) {
        const double part = g * exp((double)op->logw[i]);
        NP_REAL(np_widen)(d, op->z + i * d, slate->z);
        const double difference = push_sample(op, part, slate);
        if (op->dz)
            NP_REAL(np_add)(d, slate->dz, op->dz + i * d);
        if (op->dlogw)
            op->dlogw[i] = np_saturate((double)op->dlogw[i] + part * difference);
    }
    NP_REAL(np_posterior_add)(op, &slate->dq, b, op->dq);
    NP_REAL(np_posterior_add)(op, &slate->dp, b, op->dp);
}
