/* The stage between points and q(z) of models whose encoder is of sets, by its public calls. */
#ifndef SET_STAGE_H
#define SET_STAGE_H

#include "model_call.h"

/* q [B,Q] of rows x, y by offsets. */
void set_stage_forward(npagg_ctx *ctx, const model_call *f, const int64_t *offsets, const double *x,
                       const double *y, double *q, npagg_cache *cache);

/* dparams += from dq [B,Q]. */
void set_stage_backward(npagg_ctx *ctx, const model_call *f, const int64_t *offsets,
                        const double *x, const double *y, const double *dq, double *dparams,
                        npagg_cache *cache);

/* The context rows of rows [N,width], one after the other; the caller frees. */
double *context_of(const model_call *f, const double *rows, int64_t width);

#endif /* SET_STAGE_H */
