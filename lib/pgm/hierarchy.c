/*
 * Hierarchy: z ~ N(0, 1/alpha I), alpha ~ Gamma(a0, b0); the z-update sees s = 1/E[alpha],
 * (R5)-(R7). Parameters: a0, b0.
 */
#include <math.h>

#include "kernel/special.h"
#include "pgm/znode.h"

static double a_tilde(const np_pgm *pgm)
{
    return pgm->value[0] + 0.5 * (double)pgm->d;
}

/* (R5) */
static double b_tilde(const np_pgm *pgm, const np_post *post)
{
    double sum = 0;
    for (int64_t j = 0; j < pgm->d; j++)
        sum += post->E[j] * post->E[j] + post->V[j];
    return pgm->value[1] + 0.5 * sum;
}

static void forward(const np_pgm *pgm, double alpha, const double *L, const double *h,
                    np_post *post)
{
    for (int64_t j = 0; j < pgm->d; j++) {
        post->var[j] = 1 / (alpha + L[j]);
        post->mean[j] = h[j] * post->var[j];
    }
    post->logw[0] = 0;
}

/* (A1), (A2), (A4) with mu = 0, one component. */
static void backward(const np_pgm *pgm, double alpha, const double *L, const double *h,
                     const np_post *post, const np_dpost *dpost, double *dL, double *dh,
                     double *dalpha, double *grad)
{
    (void)alpha, (void)L, (void)h, (void)grad;
    double sum = 0;
    for (int64_t j = 0; j < pgm->d; j++) {
        const double var = post->var[j];
        dh[j] = dpost->mean[j] * var;
        dL[j] = -dpost->var[j] * var * var;
        sum += dL[j] - dh[j] * post->mean[j];
    }
    *dalpha = sum;
}

/* (R7) */
static double hyper_forward(const np_pgm *pgm, const np_post *post)
{
    return a_tilde(pgm) / b_tilde(pgm, post);
}

static void b_tilde_backward(const np_pgm *pgm, const np_post *post, double db, np_dpost *dpost)
{
    for (int64_t j = 0; j < pgm->d; j++) {
        dpost->E[j] += db * post->E[j];
        dpost->V[j] += 0.5 * db;
    }
}

static void hyper_backward(const np_pgm *pgm, const np_post *post, double dalpha, np_dpost *dpost,
                           double *grad)
{
    const double b = b_tilde(pgm, post), db = -dalpha * (a_tilde(pgm) / b) / b;
    b_tilde_backward(pgm, post, db, dpost);
    if (grad) {
        grad[0] += dalpha / b;
        grad[1] += db;
    }
}

static double bound(const np_pgm *pgm, const double *L, const double *h, const np_post *post)
{
    (void)L, (void)h;
    const double a0 = pgm->value[0], b0 = pgm->value[1], a = a_tilde(pgm);
    return a0 * log(b0) + np_lgamma(a) - np_lgamma(a0) - a * log(b_tilde(pgm, post)) +
           0.5 * (double)pgm->d + 0.5 * np_log_sum(pgm->d, post->V);
}

/* (A12), second line. */
static void bound_backward(const np_pgm *pgm, const double *L, const double *h, const np_post *post,
                           double g, np_dpost *dpost, double *grad)
{
    (void)L, (void)h;
    const double a0 = pgm->value[0], b0 = pgm->value[1], a = a_tilde(pgm), b = b_tilde(pgm, post);
    const double db = -g * a / b;
    if (grad) {
        grad[0] += g * (log(b0 / b) + np_digamma(a) - np_digamma(a0));
        grad[1] += g * a0 / b0 + db;
    }
    if (!dpost)
        return;
    b_tilde_backward(pgm, post, db, dpost);
    for (int64_t j = 0; j < pgm->d; j++)
        dpost->V[j] += 0.5 * g / post->V[j];
}

static const np_field fields[] = {
    {"log_a0", NP_SHAPE_ONE, NP_LOG, 1e-6, 0},
    {"log_b0", NP_SHAPE_ONE, NP_LOG, 1e-6, 0},
};

const np_znode np_hierarchy_node = {
    .fields = fields,
    .n_fields = 2,
    .has_hyper = 1,
    .forward = forward,
    .backward = backward,
    .hyper_forward = hyper_forward,
    .hyper_backward = hyper_backward,
    .bound = bound,
    .bound_backward = bound_backward,
};
