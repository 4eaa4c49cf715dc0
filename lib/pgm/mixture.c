/*
 * Mixture of K Gaussians, (Z5), and the single Gaussian, which is its case K = 1 without logits.
 * Parameters: mean [K,D], variance [K,D], log pi [K].
 */
#include <math.h>

#include "kernel/special.h"
#include "pgm/component.h"
#include "pgm/znode.h"

static np_component component(const np_pgm *pgm, int64_t k, const double *L, const double *h)
{
    const int64_t kd = pgm->k * pgm->d, at = k * pgm->d;
    return (np_component){pgm->d, pgm->value + at, pgm->value + kd + at, L, h};
}

/* log pi_k; 0 for the single Gaussian, whose array ends before it. */
static double log_pi(const np_pgm *pgm, int64_t k)
{
    return pgm->k == 1 ? 0 : pgm->value[2 * pgm->k * pgm->d + k];
}

/* (Z5) in place: log evidences in, log weights out. Equal evidences, as of an empty set, leave
 * exactly the prior's. */
static void normalise(const np_pgm *pgm, double *logw)
{
    int64_t differ = 0;
    for (int64_t k = 1; k < pgm->k; k++)
        differ += logw[k] != logw[0];
    for (int64_t k = 0; k < pgm->k; k++)
        logw[k] = log_pi(pgm, k) + (differ ? logw[k] : 0);
    const double sum = differ ? np_log_sum_exp(pgm->k, logw) : 0;
    for (int64_t k = 0; k < pgm->k; k++)
        logw[k] -= sum;
}

static void forward(const np_pgm *pgm, double hyper, const double *L, const double *h, int known,
                    np_post *post)
{
    (void)hyper;
    double *mid = post->E; /* free until the moments are taken */
    if (pgm->k > 1 && !known)
        pgm->dims->average(pgm->d, L, h, mid);
    for (int64_t k = 0; k < pgm->k; k++) {
        const np_component c = component(pgm, k, L, h);
        double *mean = post->mean + k * pgm->d, *var = post->var + k * pgm->d;
        if (pgm->k == 1 || known)
            pgm->dims->component(&c, mean, var);
        else
            post->logw[k] = pgm->dims->component_evidence(&c, mid, mean, var);
    }
    if (pgm->k == 1)
        post->logw[0] = 0;
    else if (!known)
        normalise(pgm, post->logw);
}

/* (A5), then each component. */
static void backward(const np_pgm *pgm, double hyper, const double *L, const double *h,
                     const np_post *post, const np_dpost *dpost, double *dL, double *dh,
                     double *dhyper, double *grad)
{
    (void)hyper;
    const int64_t d = pgm->d, kd = pgm->k * d;
    double total = 0;
    for (int64_t k = 0; k < pgm->k; k++)
        total += dpost->logw[k];
    for (int64_t j = 0; j < d; j++)
        dL[j] = dh[j] = 0;
    for (int64_t k = 0; k < pgm->k; k++) {
        const int64_t at = k * d;
        const np_component c = component(pgm, k, L, h);
        np_component_grad g = {
            .dmean = dpost->mean + at, .dvar = dpost->var + at, .dL = dL, .dh = dh};
        if (pgm->k > 1)
            g.dl = dpost->logw[k] - exp(post->logw[k]) * total;
        if (!grad) {
            pgm->dims->sums_backward(&c, post->E, &g);
            continue;
        }
        g.dmu = grad + at;
        g.dprec = grad + kd + at;
        pgm->dims->component_backward(&c, post->E, &g);
        if (pgm->k > 1)
            grad[2 * kd + k] += g.dl;
    }
    *dhyper = 0;
}

static double bound(const np_pgm *pgm, const double *L, const double *h, const np_post *post)
{
    double sum = 0;
    for (int64_t k = 0; k < pgm->k; k++) {
        const np_component c = component(pgm, k, L, h);
        sum -= exp(post->logw[k]) * (post->logw[k] - log_pi(pgm, k) + pgm->dims->component_kl(&c));
    }
    return sum;
}

/* (A12), last line. */
static void bound_backward(const np_pgm *pgm, const double *L, const double *h, const np_post *post,
                           double g, np_dpost *dpost, double *grad)
{
    const int64_t d = pgm->d, kd = pgm->k * d;
    for (int64_t k = 0; k < pgm->k; k++) {
        const int64_t at = k * d;
        const double gw = g * exp(post->logw[k]);
        const np_component c = component(pgm, k, L, h);
        pgm->dims->component_kl_backward(&c, gw, dpost ? dpost->mean + at : NULL,
                                         dpost ? dpost->var + at : NULL, grad ? grad + at : NULL,
                                         grad ? grad + kd + at : NULL);
        if (pgm->k > 1 && grad)
            grad[2 * kd + k] += gw;
        if (pgm->k > 1 && dpost)
            dpost->logw[k] -= gw * (post->logw[k] - log_pi(pgm, k) + pgm->dims->component_kl(&c));
    }
}

static const np_field fields[] = {
    {"mean", NP_SHAPE_KD, NP_PLAIN, 0, 0.1},
    {"logvar", NP_SHAPE_KD, NP_LOGVAR, 0, 0},
    {"logits", NP_SHAPE_K, NP_LOGITS, 0, 0},
};

static const np_field gaussian_fields[] = {
    {"mean", NP_SHAPE_KD, NP_PLAIN, 0, 0},
    {"logvar", NP_SHAPE_KD, NP_LOGVAR, 0, 0},
};

const np_znode np_mixture_node = {
    .fields = fields,
    .n_fields = 3,
    .has_logw = 1,
    .forward = forward,
    .backward = backward,
    .bound = bound,
    .bound_backward = bound_backward,
};

const np_znode np_gaussian_node = {
    .fields = gaussian_fields,
    .n_fields = 2,
    .forward = forward,
    .backward = backward,
    .bound = bound,
    .bound_backward = bound_backward,
};
