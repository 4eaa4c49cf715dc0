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
    post.squares = (double)NAN;
    return post;
}

np_dpost np_dpost_take(np_arena *arena, int64_t d, int64_t k)
{
    np_dpost dpost;
    dpost.mean = NP_TAKE(arena, k * d, double);
    dpost.var = NP_TAKE(arena, k * d, double);
    dpost.logw = NP_TAKE(arena, k, double);
    dpost.E = k == 1 ? dpost.mean : NP_TAKE(arena, d, double);
    dpost.V = k == 1 ? dpost.var : NP_TAKE(arena, d, double);
    dpost.squares = (double)NAN;
    return dpost;
}

void np_dpost_clear(int64_t d, int64_t k, np_dpost *dpost)
{
    memset(dpost->mean, 0, (size_t)(k * d) * sizeof(double));
    memset(dpost->var, 0, (size_t)(k * d) * sizeof(double));
    memset(dpost->logw, 0, (size_t)k * sizeof(double));
    if (k == 1)
        return;
    memset(dpost->E, 0, (size_t)d * sizeof(double));
    memset(dpost->V, 0, (size_t)d * sizeof(double));
}

/* About the first component, so that weights which add up to 1 only in theory do no harm. */
void np_moments_forward(const np_dims *dims, int64_t d, int64_t k, int with_V, np_post *post)
{
    if (k == 1)
        return;
    memcpy(post->E, post->mean, (size_t)d * sizeof(double));
    memset(post->V, 0, (size_t)d * sizeof(double));
    for (int64_t c = 1; c < k; c++)
        dims->add_shift(d, exp(post->logw[c]), post->mean + c * d, post->mean, post->E);
    for (int64_t c = 0; with_V && c < k; c++)
        dims->add_spread(d, exp(post->logw[c]), post->mean + c * d, post->var + c * d, post->E,
                         post->V);
}

void np_moments_backward(const np_dims *dims, int64_t d, int64_t k, const np_post *post,
                         np_dpost *dpost)
{
    if (k == 1)
        return;
    for (int64_t c = 0; c < k; c++)
        dpost->logw[c] += dims->moments_backward(d, exp(post->logw[c]), post->mean + c * d,
                                                 post->var + c * d, post->E, dpost->E, dpost->V,
                                                 dpost->mean + c * d, dpost->var + c * d);
    memset(dpost->E, 0, (size_t)d * sizeof(double));
    memset(dpost->V, 0, (size_t)d * sizeof(double));
}
