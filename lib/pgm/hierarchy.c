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
    return pgm->value[1] + 0.5 * post->squares;
}

static void forward(const np_pgm *pgm, double alpha, const double *L, const double *h, int known,
                    np_post *post)
{
    (void)known;
    post->squares = pgm->dims->shrink(pgm->d, alpha, L, h, post->mean, post->var);
    post->logw[0] = 0;
}

/* (A1), (A2), (A4) with mu = 0, one component. */
static void backward(const np_pgm *pgm, double alpha, const double *L, const double *h,
                     const np_post *post, const np_dpost *dpost, double *dL, double *dh,
                     double *dalpha, double *grad)
{
    (void)alpha, (void)L, (void)h, (void)grad;
    *dalpha =
        pgm->dims->shrink_backward(pgm->d, post->mean, post->var, dpost->mean, dpost->var, dL, dh);
}

/* (R7) */
static double hyper_forward(const np_pgm *pgm, const np_post *post)
{
    return a_tilde(pgm) / b_tilde(pgm, post);
}

static void b_tilde_backward(const np_pgm *pgm, const np_post *post, double db, np_dpost *dpost)
{
    pgm->dims->squares_backward(pgm->d, db, post->E, dpost->E, dpost->V);
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

/* log(b0 E[alpha] / a0) */
static double log_alpha_ratio(const np_pgm *pgm, const np_post *post)
{
    const double a0 = pgm->value[0], b0 = pgm->value[1];
    return log1p(0.5 * (double)pgm->d / a0) - log1p(0.5 * post->squares / b0);
}

/* sum_d log(alpha V) */
static double log_shrink(const np_pgm *pgm, const np_post *post)
{
    const double alpha = hyper_forward(pgm, post);
    np_log_product p = {0, 1};
    for (int64_t j = 0; j < pgm->d; j++)
        np_log_add(&p, alpha * post->V[j]);
    return np_log_total(&p);
}

/*
 * P of (R8) with both gamma functions by Stirling's formula, so that nothing large cancels:
 * a0 log(b0 alpha / a0) - 1/2 log(a~ / a0) + S(a~) - S(a0) + 1/2 sum log(alpha V).
 */
static double bound(const np_pgm *pgm, const double *L, const double *h, const np_post *post)
{
    (void)L, (void)h;
    const double a0 = pgm->value[0];
    return a0 * log_alpha_ratio(pgm, post) - 0.5 * log1p(0.5 * (double)pgm->d / a0) +
           (np_stirling(a_tilde(pgm)) - np_stirling(a0)) + 0.5 * log_shrink(pgm, post);
}

/* (A12), second line. */
static void bound_backward(const np_pgm *pgm, const double *L, const double *h, const np_post *post,
                           double g, np_dpost *dpost, double *grad)
{
    (void)L, (void)h;
    const double a0 = pgm->value[0], b0 = pgm->value[1], a = a_tilde(pgm);
    const double db = -g * hyper_forward(pgm, post);
    if (grad) {
        grad[0] += g * (log_alpha_ratio(pgm, post) + np_stirling_psi(a) - np_stirling_psi(a0));
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
