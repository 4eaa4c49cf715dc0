#include "pgm/component.h"

#include "kernel/special.h"

void np_component_forward(const np_component *c, double *mean, double *var)
{
    for (int64_t j = 0; j < c->d; j++) {
        const double s = c->s[j], t = 1 + c->L[j] * s, r = c->h[j] - c->L[j] * c->mu[j];
        var[j] = s / t;
        mean[j] = c->mu[j] + s * (r / t);
    }
}

/* sum_d log(1 + L s) */
static double log_t(const np_component *c)
{
    np_log_product p = {0, 1};
    for (int64_t j = 0; j < c->d; j++)
        np_log_add(&p, 1 + c->L[j] * c->s[j]);
    return np_log_total(&p);
}

double np_component_evidence(const np_component *c)
{
    double sum = 0;
    for (int64_t j = 0; j < c->d; j++) {
        const double L = c->L[j], t = 1 + L * c->s[j], r = c->h[j] - L * c->mu[j];
        sum += L > 0 ? r * (r / t) / L : 0;
    }
    return -0.5 * (log_t(c) + sum);
}

static void prior_backward(const np_component *c, const double *var, const double *dmean,
                           const double *dvar, double dl, double *dmu, double *dprec)
{
    for (int64_t j = 0; j < c->d; j++) {
        const double L = c->L[j], s = c->s[j], t = 1 + L * s, delta = (c->h[j] - L * c->mu[j]) / t;
        const double shift = s * delta;
        dmu[j] += dmean[j] / t + dl * delta;
        dprec[j] += -dvar[j] * var[j] * var[j] - dmean[j] * var[j] * shift +
                    0.5 * dl * (L * s * var[j] - shift * shift);
    }
}

void np_component_backward(const np_component *c, const double *mean, const double *var,
                           const double *E, const double *dmean, const double *dvar, double dl,
                           double *dL, double *dh, double *dmu, double *dprec)
{
    for (int64_t j = 0; j < c->d; j++) {
        const double x = mean[j] - E[j], p = dmean[j] * var[j];
        dh[j] += p + dl * x;
        dL[j] -= dvar[j] * var[j] * var[j] + p * x + 0.5 * dl * (var[j] + x * x);
    }
    if (dmu)
        prior_backward(c, var, dmean, dvar, dl, dmu, dprec);
}

double np_component_kl(const np_component *c)
{
    double sum = 0;
    for (int64_t j = 0; j < c->d; j++) {
        const double L = c->L[j], s = c->s[j], t = 1 + L * s, delta = (c->h[j] - L * c->mu[j]) / t;
        sum += s * delta * delta - L * s / t;
    }
    return 0.5 * (log_t(c) + sum);
}

void np_component_kl_backward(const np_component *c, double g, double *dmean, double *dvar,
                              double *dmu, double *dprec)
{
    for (int64_t j = 0; j < c->d; j++) {
        const double L = c->L[j], s = c->s[j], t = 1 + L * s, delta = (c->h[j] - L * c->mu[j]) / t;
        const double shift = s * delta;
        if (dmu) {
            dmu[j] += g * delta;
            dprec[j] += 0.5 * g * (L * s * (s / t) - shift * shift);
        }
        if (dmean) {
            dmean[j] -= g * delta;
            dvar[j] += 0.5 * g * L;
        }
    }
}
