/*
 * Kinds of encoders: each a table of functions. The public functions check, lay out memory and
 * call; a new kind is a new file.
 */
#ifndef NP_ENCODER_KIND_H
#define NP_ENCODER_KIND_H

#include "base/real.h"
#include "encode/encoder.h"
#include "nn/lanes.h"
#include "nn/linear.h"

/* One call. */
typedef struct NP_REAL(np_encoding) {
    npagg_ctx *ctx;
    const npagg_encoder *encoder;
    const np_linear *linear;
    const np_lanes *lanes;
    np_nets given, nets; /* as the caller has the parameters; aligned, P numbers */
    const real *params;
    int64_t n_sets, n;
    const int64_t *offsets;
    const real *x, *y;        /* [N,X], [N,Y] */
    real *m, *v;              /* [N,D]: forward */
    const real *dm, *dv;      /* backward: either may be NULL */
    real *dparams, *dx, *dy;  /* each may be NULL */
    int32_t is_kept;          /* keep is in a cache: one per tile, else one per worker */
    real *keep;               /* what tiles leave for backward */
    real *turned, *straight;  /* [P]: see nn/mlp.h */
    int64_t tile_rows, tiles; /* of nn/tile.h */
    real *room;               /* of the workers */
    int64_t room_count;       /* of each */
    int64_t chunks;           /* that the tiles are summed in */
    real *chunk;              /* [chunks,P] */
} NP_REAL(np_encoding);
#define np_encoding NP_REAL(np_encoding)

typedef struct NP_REAL(np_encoder_table) {
    /* From the arena twice: what the cache keeps, if keep; then scratch. */
    void (*keep_take)(np_arena *arena, np_encoding *e);
    void (*forward_take)(np_arena *arena, np_encoding *e);
    void (*backward_take)(np_arena *arena, np_encoding *e);
    void (*forward)(np_encoding *e);
    void (*backward)(np_encoding *e);
} NP_REAL(np_encoder_table);
#define np_encoder_table NP_REAL(np_encoder_table)

extern const np_encoder_table NP_REAL(np_encoder_mlp);

#endif /* NP_ENCODER_KIND_H */
