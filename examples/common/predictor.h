/* Predictions with random numbers by key: npagg_model_predict with what it needs besides data. */
#ifndef PREDICTOR_H
#define PREDICTOR_H

#include "network.h"

/* Sets of points, ragged by offsets [B+1]. */
typedef struct {
    int64_t n_sets;
    const int64_t *ctx_offsets, *tgt_offsets;
    const float *xc, *yc, *xt, *yt; /* yt NULL if no log-likelihood is wanted */
} question;

/* Where the answers go, each may be NULL; shapes as in npagg/model.h. */
typedef struct {
    float *mean, *sd, *samples, *loglik, *weight;
} answer;

typedef struct {
    int64_t n_sets, n_samples, d;
    float *noise, *uniform, *q;
    int32_t *which;
} predictor;

/* For up to n_sets sets. */
void predictor_create(const network *net, int64_t n_sets, int64_t n_samples, predictor *out);
void predictor_destroy(predictor *p);

/* z ~ q(z | context) by (seed, index). */
npagg_status predictor_run(npagg_ctx *ctx, predictor *p, const network *net, const float *params,
                           uint64_t seed, uint64_t index, const question *in, const answer *out);

#endif /* PREDICTOR_H */
