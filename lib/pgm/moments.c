/* (M1), (A13): mean and variance of a mixture, and the arrays of a posterior. */
#include <math.h>
#include <string.h>

#include "pgm/znode.h"

np_post np_post_take(np_arena *arena, int64_t d, int64_t k)
{
    np_post post;
    post.mean = NP_TAKE(arena, k * d, double);
    post.var = NP_TAKE(arena, k * d, double);
    post.logw = NP_TAKE(arena, k, double);
    post.E = k == 1 ? post.mean : NP_TAKE(arena, d, double);
    post.V = k == 1 ? post.var : NP_TAKE(arena, d, double);
    return post;
}

np_dpost np_dpost_take(np_arena *arena, int64_t d, int64_t k)
{
    np_dpost dpost;
    dpost.mean = NP_TAKE(arena, k * d, double);
    dpost.var = NP_TAKE(arena, k * d, double);
    dpost.logw = NP_TAKE(arena, k, double);
    dpost.E = NP_TAKE(arena, d, double);
    dpost.V = NP_TAKE(arena, d, double);
    return dpost;
}

void np_dpost_clear(int64_t d, int64_t k, np_dpost *dpost)
{
    memset(dpost->mean, 0, (size_t)(k * d) * sizeof(double));
    memset(dpost->var, 0, (size_t)(k * d) * sizeof(double));
    memset(dpost->logw, 0, (size_t)k * sizeof(double));
    memset(dpost->E, 0, (size_t)d * sizeof(double));
    memset(dpost->V, 0, (size_t)d * sizeof(double));
}

/* E += w (mean - mean_0): about the first component, so that weights which add up to 1 only in
 * theory do no harm. */
static void add_shift(int64_t d, double w, const double *mean, const double *mean_0, double *E)
{
    for (int64_t j = 0; j < d; j++)
        E[j] += w * (mean[j] - mean_0[j]);
}

static void add_variances(int64_t d, double w, const double *mean, const double *var,
                          const double *E, double *V)
{
    for (int64_t j = 0; j < d; j++) {
        const double x = mean[j] - E[j];
        V[j] += w * (var[j] + x * x);
    }
}

void np_moments_forward(int64_t d, int64_t k, np_post *post)
{
    if (k == 1)
        return;
    memcpy(post->E, post->mean, (size_t)d * sizeof(double));
    memset(post->V, 0, (size_t)d * sizeof(double));
    for (int64_t c = 1; c < k; c++)
        add_shift(d, exp(post->logw[c]), post->mean + c * d, post->mean, post->E);
    for (int64_t c = 0; c < k; c++)
        add_variances(d, exp(post->logw[c]), post->mean + c * d, post->var + c * d, post->E,
                      post->V);
}

/* The gradient of log w, a sum over dimensions, is the result. */
static double spread_moments(int64_t d, double w, const double *mean, const double *var,
                             const double *E, const np_dpost *dpost, double *dmean, double *dvar)
{
    double dlogw = 0;
    for (int64_t j = 0; j < d; j++) {
        const double x = mean[j] - E[j], dE = dpost->E[j], dV = dpost->V[j];
        dmean[j] += w * (dE + 2 * dV * x);
        dvar[j] += w * dV;
        dlogw += x * dE + dV * (var[j] + x * x);
    }
    return w * dlogw;
}

void np_moments_backward(int64_t d, int64_t k, const np_post *post, np_dpost *dpost)
{
    for (int64_t c = 0; c < k; c++)
        dpost->logw[c] +=
            spread_moments(d, exp(post->logw[c]), post->mean + c * d, post->var + c * d, post->E,
                           dpost, dpost->mean + c * d, dpost->var + c * d);
    memset(dpost->E, 0, (size_t)d * sizeof(double));
    memset(dpost->V, 0, (size_t)d * sizeof(double));
}
