/*
 * Linear layers with activations between them, on one tile of NP_TILE_ROWS = R rows.
 *
 * `keep` is what a tile leaves for its backward: of each activated layer what left the activation
 * [R,width], and behind it what entered it, if the activation wants that. `turned` [P] is the whole
 * parameter array with the weights transposed. first: the layer to begin with; the output of the
 * one before is then in keep already, or its gradient is what backward ends with.
 */
#ifndef NP_MLP_H
#define NP_MLP_H

#include "base/real.h"
#include "nn/net.h"
#include "nn/tile.h"

/* Numbers a tile keeps. */
int64_t NP_REAL(np_mlp_keep_count)(const np_mlp *mlp);

/* turned [P] from params [P], all networks. */
void NP_REAL(np_nets_turn)(const np_nets *nets, const real *params, real *turned);

/* Where the output of an activated layer is kept, [R,width[layer+1]]. */
real *NP_REAL(np_mlp_kept)(const np_mlp *mlp, int32_t layer, real *keep);

/* The activation after that layer, in keep. */
void NP_REAL(np_mlp_activate)(const np_mlp *mlp, int32_t layer, real *keep);

/* in [R,width[0]] -> out [R,width[layers]]. The result: out, or the last kept if it ends active. */
real *NP_REAL(np_mlp_forward)(const np_mlp *mlp, const real *turned, int32_t first, const real *in,
                              real *keep, real *out);

/*
 * g [R,widest] has the gradient of the result, other [R,widest] is room; both are overwritten. The
 * first n rows count for dparams [P] +=, which may be NULL. din [R,width[0]] = gradient of in +
 * beta din, may be NULL and is not used if first > 0: then g or other, which is returned, has the
 * gradient of what entered the activation of layer first - 1.
 */
real *NP_REAL(np_mlp_backward)(const np_mlp *mlp, const real *params, int32_t first, int64_t n,
                               const real *in, real *keep, real *g, real *other, real *dparams,
                               real beta, real *din);

#endif /* NP_MLP_H */
