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

/* 1/v of all rows of a set, if it is small and passed over more than once: the first pass fills it.
 */
typedef struct NP_REAL(np_kept) {
    real *lam;    /* [n,D]; NULL: not kept */
    int32_t full; /* of the set that is being worked on */
} NP_REAL(np_kept);
#define np_kept NP_REAL(np_kept)

/* What one worker needs for a pass. */
typedef struct NP_REAL(np_lane) {
    real *lam;        /* [block,D] */
    np_partial block; /* for passes that merge block by block */
    double *centre;   /* [D] */
} NP_REAL(np_lane);
#define np_lane NP_REAL(np_lane)

typedef struct NP_REAL(np_rows) {
    npagg_ctx *team;     /* whose threads share the chunks; NULL: all on the calling worker */
    int32_t worker;      /* the calling worker */
    np_lane *lanes;      /* [workers] */
    np_partial *partial; /* [chunks] */
    np_kept *kept;       /* NULL: every pass divides anew */
    const np_kernels *fast, *ref;
    int32_t far;        /* the batch is too large for the nearest caches */
    int32_t wild;       /* this set's numbers want the reference kernels */
    const double *zero; /* [D] */
    const np_dims *dims;
    int64_t n, d;
    const real *m, *v, *weight; /* [n,d], [n,d], [n] or NULL */
} NP_REAL(np_rows);
#define np_rows NP_REAL(np_rows)

/* A block with the weights of its rows. Its lam is known if it was kept; otherwise the first kernel
 * leaves it in store, and np_piece_filled says so to those that follow. */
typedef struct NP_REAL(np_piece) {
    np_block block;
    int64_t row[NP_BLOCK_ROWS];
    real omega[NP_BLOCK_ROWS];
    np_lane *lane;
} NP_REAL(np_piece);
#define np_piece NP_REAL(np_piece)

static inline void NP_REAL(np_piece_filled)(np_piece *piece)
{
    piece->block.lam = piece->block.store;
}

/* What a pass does with a piece. self is the pass's own data; sums go to out. */
typedef void (*NP_REAL(np_pass_fn))(const void *self, const np_rows *rows, np_piece *piece,
                                    np_partial *out);
#define np_pass_fn NP_REAL(np_pass_fn)

int64_t NP_REAL(np_rows_chunks)(int64_t n, int64_t d);

/* The most that any set of up to n rows has. */
int64_t NP_REAL(np_rows_chunks_most)(int64_t n, int64_t d);

int64_t NP_REAL(np_rows_block)(int64_t d);

/* Whether n rows are few enough to keep their 1/v: one chunk, which stays in a core's cache. */
int NP_REAL(np_rows_are_few)(int64_t n, int64_t d);

/* Runs the pass over all rows; gives the merged partial, which stays valid until the next pass. */
np_partial *NP_REAL(np_rows_run)(const np_rows *rows, np_pass_fn pass, const void *self,
                                 int centred);

/* The arrays of a lane. */
np_lane NP_REAL(np_lane_take)(np_arena *arena, int64_t d);

/* The kernels that can do this set with these vectors [D] (each may be NULL): fast, or ref where
 * float might overflow. */
const np_kernels *NP_REAL(np_rows_kernels)(const np_rows *rows, const double *E, const double *V,
                                           const double *dL, const double *dh);

/* sum_d log lam of row i of the piece, which is filled. */
double NP_REAL(np_rows_log)(const np_piece *piece, int64_t i);

/* Names the first number of the set that is not allowed, or says what overflowed; first is its
 * first row in the batch. */
npagg_status NP_REAL(np_rows_explain)(npagg_ctx *ctx, const np_rows *rows, int64_t set,
                                      int64_t first);

#endif /* NP_ROWS_H */
