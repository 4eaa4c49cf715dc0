/*
 * A model's loss and gradient from its stages, one public call after the other, in f64: the
 * contexts are sets of their own here, and the evidences' KL divergence is plain loops.
 */
#ifndef ROAD_H
#define ROAD_H

#include "model_call.h"

/* loss [B] and dparams [P] (set, not added to) of an f64 call. */
void road_run(npagg_ctx *ctx, const model_call *f, double *loss, double *dparams);

#endif /* ROAD_H */
