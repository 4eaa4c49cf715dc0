/* Adding up the chunks of tile.h. */
#ifndef NP_CHUNK_H
#define NP_CHUNK_H

#include "base/ctx.h"
#include "base/real.h"
#include "nn/net.h"

/* dparams, laid out as given, += the sum of chunk [chunks,P], laid out as nets, in order and in
 * double. */
void NP_REAL(np_chunk_sum)(npagg_ctx *ctx, int64_t chunks, const np_nets *nets, const real *chunk,
                           const np_nets *given, real *dparams);

#endif /* NP_CHUNK_H */
