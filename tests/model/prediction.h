/*
 * A model's prediction with every argument at hand: the tasks of a call, whose contexts are given
 * and whose other rows are asked for.
 */
#ifndef PREDICTION_H
#define PREDICTION_H

#include "model_call.h"

typedef struct {
    const model_call *f; /* the model, its parameters, the precision */
    int64_t n_sets, s, n_context, n_target;
    int64_t *ctx_offsets, *tgt_offsets;          /* [B+1] */
    void *xc, *yc, *xt, *yt, *noise;             /* [Nc,X], [Nc,Y], [M,X], [M,Y], [B,S,D] */
    int32_t *which;                              /* [B,S] */
    void *mean, *sd, *samples, *loglik, *weight; /* [M,Y], [M,Y], [M,S,O], [M], [Nc] */
    void *q;                                     /* [B,Q] of npagg_model_infer */
    unsigned char *out;                          /* the six, one after the other */
    size_t out_bytes;
} prediction;

prediction *prediction_create(const model_call *f);
void prediction_destroy(prediction *p);

npagg_status prediction_predict(npagg_ctx *ctx, const prediction *p);
npagg_status prediction_infer(npagg_ctx *ctx, const prediction *p);
/* Outputs to zero, both; must succeed. */
void prediction_run(npagg_ctx *ctx, const prediction *p);

void prediction_poison(const prediction *p);
#define ASSERT_PREDICTION_UNTOUCHED(p) prediction_check_poison((p), __LINE__)
#define ASSERT_SAME_PREDICTIONS(want, got) prediction_check_same((want), (got), __LINE__)
void prediction_check_poison(const prediction *p, int line);
void prediction_check_same(const prediction *want, const prediction *got, int line);

#endif /* PREDICTION_H */
