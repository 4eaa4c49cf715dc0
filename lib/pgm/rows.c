#include "pgm/rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/size.h"
#include "kernel/tame.h"

enum {
    BLOCK_CELLS = 8192,
    KEPT_CELLS = 131072,
    CHUNK_CELLS = 32768,
    CHUNK_ROWS_MAX = 2048,
    KEPT_ROWS_MAX = 8192,
    CHUNKS_MAX = 256, /* of a set, which has that many partials */
    CHUNKS_STEP = 4   /* from three on a multiple of it, so that threads get equal shares */
};

np_cut NP_REAL(np_rows_cut)(int64_t d)
{
    const int64_t block = np_max(4, np_min(NP_BLOCK_ROWS, BLOCK_CELLS / d));
    const int64_t chunk = np_max(NP_BLOCK_ROWS, np_min(CHUNK_ROWS_MAX, CHUNK_CELLS / d));
    return (np_cut){block, chunk, np_min(KEPT_ROWS_MAX, KEPT_CELLS / d)};
}

static int64_t count(int64_t n, int64_t rows)
{
    return n <= rows ? 1 : n / rows + (n % rows != 0);
}

int64_t NP_REAL(np_rows_chunks_most)(int64_t n, np_cut cut)
{
    const int64_t chunks = count(n, cut.chunk);
    return chunks <= 2 ? chunks : np_min(CHUNKS_MAX, count(chunks, CHUNKS_STEP) * CHUNKS_STEP);
}

/* Chunks of equal size, as far as whole blocks go. */
static int64_t chunk_rows(int64_t n, np_cut cut)
{
    const int64_t chunks = NP_REAL(np_rows_chunks_most)(n, cut);
    return chunks == 1 ? cut.chunk : count(count(n, chunks), NP_BLOCK_ROWS) * NP_BLOCK_ROWS;
}

np_lane NP_REAL(np_lane_take)(np_arena *arena, int64_t d)
{
    np_lane lane;
    const int64_t block = NP_REAL(np_rows_cut)(d).block;
    lane.lam = NP_TAKE2(arena, np_max(NP_VISIT_ROWS, block), d, real);
    lane.g = NP_TAKE2(arena, NP_VISIT_ROWS, d, real);
    lane.stage = NP_TAKE2(arena, 6, d, real);
    lane.block = np_partial_take(arena, d);
    lane.centre = NP_TAKE(arena, d, double);
    return lane;
}

np_visit NP_REAL(np_piece_visit)(const np_piece *piece, np_partial *out)
{
    const int kept = piece->g != NULL;
    return (np_visit){
        .omega = piece->weighted ? piece->omega : NULL,
        .L = out ? out->L : NULL,
        .h = out ? out->h : NULL,
        .rows = kept ? piece->block.n : NP_VISIT_ROWS,
        .lam = kept ? piece->block.store : piece->lane->lam,
        .g = kept ? piece->g : piece->lane->g,
        .stage = piece->lane->stage,
    };
}

const real *NP_REAL(np_piece_take)(const np_piece *piece, int64_t i, int64_t n, const real *array,
                                   real *buffer)
{
    if (!piece->weighted)
        return array + piece->row[i];
    for (int64_t r = 0; r < n; r++)
        buffer[r] = array[piece->row[i + r]];
    return buffer;
}

void NP_REAL(np_piece_put)(const np_piece *piece, int64_t i, int64_t n, const real *x, real *array)
{
    if (!piece->weighted) {
        memcpy(array + piece->row[i], x, (size_t)n * sizeof *x);
        return;
    }
    for (int64_t r = 0; r < n; r++)
        array[piece->row[i + r]] = x[r];
}

real *NP_REAL(np_piece_room)(const np_piece *piece, real *array, real *buffer)
{
    return array && !piece->weighted ? array + piece->row[0] : buffer;
}

/* Rows from *i on, before end, that have a weight, at most `most`. */
static int64_t gather_weighted(const real *weight, int64_t *i, int64_t end, int64_t most,
                               np_piece *piece)
{
    int64_t n = 0;
    for (; *i < end && n < most; ++*i) {
        if (weight[*i] == 0)
            continue;
        piece->row[n] = *i;
        piece->omega[n++] = weight[*i];
    }
    return n;
}

static int64_t gather_all(int64_t *i, int64_t end, int64_t most, np_piece *piece)
{
    const int64_t n = np_min(end - *i, most), first = *i;
    for (int64_t r = 0; r < n; r++) {
        piece->row[r] = first + r;
        piece->omega[r] = 1;
    }
    *i += n;
    return n;
}

/* The next rows from *i on, before end, as many as a block holds. */
static void gather(const np_rows *rows, int64_t *i, int64_t end, np_piece *piece)
{
    const int64_t most = rows->cut.block;
    const np_kept *kept = rows->kept;
    real *lam = kept ? kept->lam + *i * rows->d : piece->lane->lam;
    piece->g = kept ? kept->g + *i * rows->d : NULL;
    piece->q = kept ? kept->q + *i : NULL;
    piece->block = (np_block){
        .d = rows->d,
        .m = rows->m,
        .v = rows->v,
        .row = piece->row,
        .ahead = rows->ahead,
        .inner = rows->inner,
        .lam = kept && kept->full ? lam : NULL,
        .store = lam,
    };
    piece->weighted = rows->weight != NULL;
    piece->block.n = rows->weight ? gather_weighted(rows->weight, i, end, most, piece)
                                  : gather_all(i, end, most, piece);
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
    const int64_t size = chunk_rows(rows->n, rows->cut), end = np_min(rows->n, (chunk + 1) * size);
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
    const int64_t chunks = count(rows->n, chunk_rows(rows->n, rows->cut));
    job j = {rows, pass, self};
    if (*rows->turn)
        np_parallel_back(rows->team, chunks, run_chunk, &j);
    else
        np_parallel(rows->team, chunks, run_chunk, &j);
    *rows->turn ^= 1;
    if (rows->kept)
        rows->kept->full = 1;
    for (int64_t c = 1; c < chunks; c++)
        np_partial_merge(rows->dims, rows->d, &rows->partial[c], centred, &rows->partial[0]);
    return &rows->partial[0];
}

/* All is well if the squares are small together. */
void NP_REAL(np_rows_meet)(np_rows *rows, const np_post *post)
{
    if (NP_REAL_BITS == 32 && !(post->squares <= NP_TAME_WIDTH))
        rows->wild |= !rows->dims->tame(rows->d, post->E, NP_TAME_ROW, post->V, NP_TAME_WIDTH);
}

int NP_REAL(np_rows_tame)(const np_rows *rows, const double *dL, const double *dh)
{
    return !rows->wild &&
           (NP_REAL_BITS == 64 || rows->dims->tame(rows->d, dL, NP_TAME_DL, dh, NP_TAME_WIDTH));
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
