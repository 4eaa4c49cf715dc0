/*
 * One pass over the rows of a set.
 *
 * A set is cut into chunks and a chunk into blocks, by n and d alone. Each chunk sums into a
 * partial of its own, on whichever thread; the partials are then merged in order. So results are
 * the same bits for any number of threads and whatever other sets the batch has. Rows of weight 0
 * are left out before anybody looks at them.
 */
#ifndef NP_ROWS_H
#define NP_ROWS_H

#include "base/ctx.h"
#include "kernel/kernel.h"
#include "pgm/dims.h"
#include "pgm/partial.h"
#include "pgm/znode.h"

/* How sets are cut, by D alone; chunks of very large sets are longer. */
typedef struct np_cut {
    int64_t block, chunk; /* rows, at most */
    int64_t few;          /* the most rows that are kept, which stay in a core's cache */
} np_cut;

/*
 * All rows of a set, if it is small and passed over more than once: 1/v, which the first pass
 * fills, and the rows about a centre (np_pairs), which a pass about that centre does.
 */
typedef struct NP_REAL(np_kept) {
    real *lam;          /* [n,D]; NULL: nothing is kept */
    real *g;            /* [n,D] */
    double *q;          /* [n]: forward, (R1) at the centre */
    const real *w;      /* [n]: backward, the weights that belong to the centre */
    double *centre, *V; /* [D]: E and V of a sweep */
    real *a, *b;        /* [D]: what lam and g are multiplied with */
    int32_t full;       /* lam is that of the set that is being worked on */
    int32_t moved;      /* and so are g and the centre */
} NP_REAL(np_kept);
#define np_kept NP_REAL(np_kept)

/* What one worker needs for a pass. */
typedef struct NP_REAL(np_lane) {
    _Alignas(NP_APART) real *lam; /* [block,D], for visits at least NP_VISIT_ROWS */
    real *g;                      /* [NP_VISIT_ROWS,D] */
    real *stage;                  /* [6,D]: for visits */
    np_partial block;             /* for passes that merge block by block */
    double *centre;               /* [D] */
} NP_REAL(np_lane);
#define np_lane NP_REAL(np_lane)

typedef struct NP_REAL(np_rows) {
    npagg_ctx *team;     /* whose threads share the chunks; NULL: all on the calling worker */
    int32_t worker;      /* the calling worker */
    np_lane *lanes;      /* [workers] */
    np_partial *partial; /* [chunks] */
    np_kept *kept;       /* NULL: every pass divides anew */
    int32_t *turn;       /* whether the next pass begins with the last chunk, which is in cache */
    const np_kernels *fast, *ref;
    int32_t wild;       /* this set's numbers, or what they met, want the reference kernels */
    const double *zero; /* [D] */
    double *spare;      /* [D]: for a vector of a pass */
    const np_dims *dims;
    int64_t n, d;
    np_cut cut;
    int64_t ahead; /* as np_block has them */
    int32_t inner;
    const real *m, *v, *weight; /* [n,d], [n,d], [n] or NULL */
} NP_REAL(np_rows);
#define np_rows NP_REAL(np_rows)

/* A block with the weights of its rows. Its lam is known if it was kept; otherwise the first kernel
 * leaves it in store, and np_piece_filled says so to those that follow. */
typedef struct NP_REAL(np_piece) {
    np_block block;
    int64_t row[NP_BLOCK_ROWS];
    real omega[NP_BLOCK_ROWS];
    int weighted; /* otherwise rows follow each other, and all omega are 1 */
    real *g;      /* [n,D]: of rows that are kept, or NULL */
    double *q;    /* [n]: likewise */
    np_lane *lane;
} NP_REAL(np_piece);
#define np_piece NP_REAL(np_piece)

static inline void NP_REAL(np_piece_filled)(np_piece *piece)
{
    piece->block.lam = piece->block.store;
}

/* A visit of the piece's rows, whose room is that of the rows that are kept, or else the lane's.
 * L and h go to out, which may be NULL. */
np_visit NP_REAL(np_piece_visit)(const np_piece *piece, np_partial *out);

/* x [n] of rows i .. i+n-1 of the piece, from an array that has a number for every row of the
 * set: in place, or where rows have weights in the buffer [n]. And back. */
const real *NP_REAL(np_piece_take)(const np_piece *piece, int64_t i, int64_t n, const real *array,
                                   real *buffer);
void NP_REAL(np_piece_put)(const np_piece *piece, int64_t i, int64_t n, const real *x, real *array);

/* Where x of the piece's rows is written: in place unless rows have weights or there is no such
 * array, then into the buffer [n]. */
real *NP_REAL(np_piece_room)(const np_piece *piece, real *array, real *buffer);

/* What a pass does with a piece. self is the pass's own data; sums go to out. */
typedef void (*NP_REAL(np_pass_fn))(const void *self, const np_rows *rows, np_piece *piece,
                                    np_partial *out);
#define np_pass_fn NP_REAL(np_pass_fn)

np_cut NP_REAL(np_rows_cut)(int64_t d);

/* The most chunks that any set of up to n rows has. */
int64_t NP_REAL(np_rows_chunks_most)(int64_t n, np_cut cut);

/* Runs the pass over all rows; gives the merged partial, which stays valid until the next pass. */
np_partial *NP_REAL(np_rows_run)(const np_rows *rows, np_pass_fn pass, const void *self,
                                 int centred);

/* The arrays of a lane. */
np_lane NP_REAL(np_lane_take)(np_arena *arena, int64_t d);

/* The set will be compared with a posterior: wild if its moments are so. */
void NP_REAL(np_rows_meet)(np_rows *rows, const np_post *post);

/* Whether float will do for this set, what it met, and these gradients [D]. */
int NP_REAL(np_rows_tame)(const np_rows *rows, const double *dL, const double *dh);

/* Names the first number of the set that is not allowed, or says what overflowed; first is its
 * first row in the batch. */
npagg_status NP_REAL(np_rows_explain)(npagg_ctx *ctx, const np_rows *rows, int64_t set,
                                      int64_t first);

#endif /* NP_ROWS_H */
