#include "nn/chunk.h"

#include "base/parallel.h"
#include "base/size.h"
#include "nn/lanes.h"

typedef struct sum_job {
    const np_lanes *lanes;
    const np_nets *nets, *given;
    int64_t chunks;
    const real *chunk;
    real *dparams;
} sum_job;

/* Numbers that one item adds up: where they are in either layout. */
typedef struct piece {
    int64_t from, to, n;
} piece;

/* The numbers of a tensor in blocks; the one that *item counts down to 0, or n = 0. */
static piece find_block(int64_t from, int64_t to, int64_t count, int64_t *item)
{
    const int64_t blocks = (count + NP_LANES_BLOCK - 1) / NP_LANES_BLOCK;
    const int64_t at = *item * NP_LANES_BLOCK;
    *item -= blocks;
    if (*item >= 0)
        return (piece){0};
    return (piece){from + at, to + at, np_min(NP_LANES_BLOCK, count - at)};
}

/* Item i over all tensors; n = 0 past the last, and *left is then i less their number. */
static piece find_piece(const np_nets *nets, const np_nets *given, int64_t i, int64_t *left)
{
    piece found = {0};
    *left = i;
    for (int32_t n = 0; n < nets->n; n++)
        for (int32_t l = 0; l < nets->net[n].layers; l++) {
            const np_mlp *a = &nets->net[n], *b = &given->net[n];
            found = find_block(np_mlp_weight(a, l), np_mlp_weight(b, l),
                               a->width[l] * a->width[l + 1], left);
            if (found.n > 0)
                return found;
            found = find_block(np_mlp_bias(a, l), np_mlp_bias(b, l), np_mlp_bias_count(a, l), left);
            if (found.n > 0)
                return found;
        }
    return found;
}

static void sum_block(void *arg, int64_t item, int32_t worker)
{
    const sum_job *job = arg;
    int64_t left;
    const piece at = find_piece(job->nets, job->given, item, &left);
    (void)worker;
    job->lanes->add_wide(job->chunks, at.n, job->chunk + at.from, job->nets->params,
                         job->dparams + at.to);
}

void NP_REAL(np_chunk_sum)(npagg_ctx *ctx, int64_t chunks, const np_nets *nets, const real *chunk,
                           const np_nets *given, real *dparams)
{
    sum_job job = {NP_REAL(np_lanes_choose)(ctx->cpu), nets, given, chunks, chunk, dparams};
    int64_t left;
    find_piece(nets, given, INT64_MAX / (2 * NP_LANES_BLOCK), &left);
    np_parallel(ctx, INT64_MAX / (2 * NP_LANES_BLOCK) - left, sum_block, &job);
}
