#include "pgm/component.h"

#include "kernel/special.h"

/* sum_d log(1 + L s) */
static double log_t(const np_component *c)
{
    np_log_product p = {0, 1};
    for (int64_t j = 0; j < c->d; j++)
        np_log_add(&p, 1 + c->L[j] * c->s[j]);
    return np_log_total(&p);
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
