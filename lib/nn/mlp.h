/*
 * Linear layers with activations between them, on one tile of at most NP_TILE_ROWS = R rows.
 *
 * `keep` is what a tile leaves for its backward: of each activated layer what left the activation
 * [R,width], and behind it what entered it, if the activation wants that. Parameters and their
 * gradients are where np_nets_align lays them, P numbers; `turned` [P] has the weights transposed.
 * first: the layer to begin with; the output of the
 * one before is then in keep already, or its gradient is what backward ends with. n: rows to work
 * on, R where linear->pads.
 */
#ifndef NP_MLP_H
#define NP_MLP_H

#include "base/ctx.h"
#include "base/real.h"
#include "nn/linear.h"
#include "nn/net.h"
#include "nn/tile.h"

/* Numbers a tile keeps. */
int64_t NP_REAL(np_mlp_keep_count)(const np_mlp *mlp);

/* From params as the caller has them, given, to the aligned layout nets: turned [P] and straight
 * [P], of which either may be NULL. */
void NP_REAL(np_nets_lay_out)(npagg_ctx *ctx, const np_nets *given, const real *params,
                              const np_nets *nets, real *turned, real *straight);

/* Where the output of an activated layer is kept, [R,width[layer+1]]. */
real *NP_REAL(np_mlp_kept)(const np_mlp *mlp, int32_t layer, real *keep);

/* The activation after that layer, on n rows in keep. */
void NP_REAL(np_mlp_activate)(const np_mlp *mlp, int32_t layer, int64_t n, real *keep);

/* in [n,width[0]] -> out [n,width[layers]]. The result: out, or the last kept if it ends active. */
real *NP_REAL(np_mlp_forward)(const np_linear *linear, const np_mlp *mlp, const real *turned,
                              int32_t first, int64_t n, const real *in, real *keep, real *out);

/*
 * g [n,widest] has the gradient of the result, other [n,widest] is room; both are overwritten. The
 * first `counted` rows count for dparams [P] +=, which may be NULL. din [n,width[0]] = gradient of
 * in + beta din, may be NULL and is not used if first > 0: then g or other, which is returned, has
 * the gradient of what entered the activation of layer first - 1.
 */
real *NP_REAL(np_mlp_backward)(const np_linear *linear, const np_mlp *mlp, const real *params,
                               int32_t first, int64_t n, int64_t counted, const real *in,
                               real *keep, real *g, real *other, real *dparams, real beta,
                               real *din);

#endif /* NP_MLP_H */
