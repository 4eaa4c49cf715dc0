#include "pgm/rows.h"

#include <inttypes.h>
#include <math.h>

#include "base/parallel.h"
#include "base/size.h"
#include "kernel/special.h"
#include "kernel/tame.h"

enum { BLOCK_CELLS = 4096, CHUNK_CELLS = 131072, CHUNK_ROWS_MAX = 8192 };

int64_t NP_REAL(np_rows_block)(int64_t d)
{
    return np_max(4, np_min(NP_BLOCK_ROWS, BLOCK_CELLS / d));
}

static int64_t chunk_rows(int64_t d)
{
    return np_max(NP_BLOCK_ROWS, np_min(CHUNK_ROWS_MAX, CHUNK_CELLS / d));
}

int64_t NP_REAL(np_rows_chunks)(int64_t n, int64_t d)
{
    const int64_t rows = chunk_rows(d);
    return np_max(1, n / rows + (n % rows != 0));
}

np_lane NP_REAL(np_lane_take)(np_arena *arena, int64_t d)
{
    np_lane lane;
    lane.lam = NP_TAKE(arena, NP_REAL(np_rows_block)(d) * d, real);
    lane.block = np_partial_take(arena, d);
    lane.centre = NP_TAKE(arena, d, double);
    return lane;
}

/* The next rows from *i on, before end, that have a weight, as many as a block holds. */
static void gather(const np_rows *rows, int64_t *i, int64_t end, np_piece *piece)
{
    const int64_t most = NP_REAL(np_rows_block)(rows->d);
    int64_t n = 0;
    for (; *i < end && n < most; ++*i) {
        const real omega = rows->weight ? rows->weight[*i] : 1;
        if (omega == 0)
            continue;
        piece->row[n] = *i;
        piece->omega[n++] = omega;
    }
    piece->block = (np_block){n, rows->d, rows->m, piece->row, piece->lane->lam};
}

typedef struct job {
    const np_rows *rows;
    np_pass_fn pass;
    const void *self;
} job;

static void run_chunk(void *arg, int64_t chunk, int32_t worker)
{
    const job *j = arg;
    const np_rows *rows = j->rows;
    const int64_t size = chunk_rows(rows->d), end = np_min(rows->n, (chunk + 1) * size);
    np_piece piece;
    piece.lane = &rows->lanes[rows->team ? worker : rows->worker];
    np_partial_clear(&rows->partial[chunk], rows->d);
    for (int64_t i = chunk * size; i < end;) {
        gather(rows, &i, end, &piece);
        if (piece.block.n > 0)
            j->pass(j->self, rows, &piece, &rows->partial[chunk]);
    }
}

np_partial *NP_REAL(np_rows_run)(const np_rows *rows, np_pass_fn pass, const void *self,
                                 int centred)
{
    job j = {rows, pass, self};
    const int64_t chunks = NP_REAL(np_rows_chunks)(rows->n, rows->d);
    np_parallel(rows->team, chunks, run_chunk, &j);
    for (int64_t c = 1; c < chunks; c++)
        np_partial_merge(&rows->partial[0], &rows->partial[c], rows->d, centred);
    return &rows->partial[0];
}

void NP_REAL(np_rows_fill)(const np_rows *rows, np_piece *piece, np_range *range)
{
    rows->fast->fill(&piece->block, rows->v, piece->lane->lam, range);
}

const np_kernels *NP_REAL(np_rows_kernels)(const np_rows *rows, const double *E, const double *V,
                                           const double *dL, const double *dh)
{
    const int tame = !rows->wild && (!E || np_tame(rows->d, E, NP_TAME_ROW)) &&
                     (!V || np_tame(rows->d, V, NP_TAME_WIDTH)) &&
                     (!dL || np_tame(rows->d, dL, NP_TAME_DL)) &&
                     (!dh || np_tame(rows->d, dh, NP_TAME_WIDTH));
    return tame ? rows->fast : rows->ref;
}

double NP_REAL(np_rows_log)(const np_piece *piece, int64_t i)
{
    const int64_t d = piece->block.d;
    const real *lam = piece->block.lam + i * d;
    np_log_product p = {0, 1};
    for (int64_t j = 0; j < d; j++)
        np_log_add(&p, (double)lam[j]);
    return np_log_total(&p);
}

/* The first number of the row that is not allowed, with its text; NPAGG_OK if all are. */
static npagg_status explain_row(npagg_ctx *ctx, int64_t d, const real *m, const real *v, int64_t i)
{
    for (int64_t j = 0; j < d; j++) {
        if (!(v[j] > 0 && v[j] <= NP_REAL_MAX))
            return np_fail(ctx, NPAGG_E_NUMERIC,
                           "v[%" PRId64 ",%" PRId64 "] = %g, want > 0 and finite", i, j,
                           (double)v[j]);
        if (!(1 / v[j] <= NP_REAL_MAX))
            return np_fail(ctx, NPAGG_E_NUMERIC,
                           "v[%" PRId64 ",%" PRId64 "] = %g, want > 0 with a finite 1/v", i, j,
                           (double)v[j]);
        if (!isfinite(m[j]))
            return np_fail(ctx, NPAGG_E_NUMERIC, "m[%" PRId64 ",%" PRId64 "] = %g, want finite", i,
                           j, (double)m[j]);
    }
    return NPAGG_OK;
}

npagg_status NP_REAL(np_rows_explain)(npagg_ctx *ctx, const np_rows *rows, int64_t set,
                                      int64_t first)
{
    for (int64_t i = 0; i < rows->n; i++) {
        const real omega = rows->weight ? rows->weight[i] : 1;
        if (omega == 0)
            continue;
        if (!(omega > 0 && omega <= NP_REAL_MAX))
            return np_fail(ctx, NPAGG_E_NUMERIC, "weight[%" PRId64 "] = %g, want >= 0 and finite",
                           first + i, (double)omega);
        NP_TRY(explain_row(ctx, rows->d, rows->m + i * rows->d, rows->v + i * rows->d, first + i));
    }
    return np_fail(ctx, NPAGG_E_NUMERIC, "set %" PRId64 ": its sums or its posterior overflow",
                   set);
}
