/* Adding up the chunks of tile.h. */
#ifndef NP_CHUNK_H
#define NP_CHUNK_H

#include "base/ctx.h"
#include "base/real.h"

/* dparams [p] += the sum of chunk [chunks,p] in order, in double. */
void NP_REAL(np_chunk_sum)(npagg_ctx *ctx, int64_t chunks, int64_t p, const real *chunk,
                           real *dparams);

#endif /* NP_CHUNK_H */
