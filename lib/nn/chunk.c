#include "nn/chunk.h"

#include "base/parallel.h"
#include "base/size.h"

enum { SUM_BLOCK = 2048 };

typedef struct sum_job {
    int64_t chunks, p;
    const real *chunk;
    real *dparams;
} sum_job;

static void sum_block(void *arg, int64_t item, int32_t worker)
{
    const sum_job *job = arg;
    const int64_t first = item * SUM_BLOCK, n = np_min(SUM_BLOCK, job->p - first);
    double sum[SUM_BLOCK];
    (void)worker;
    for (int64_t i = 0; i < n; i++)
        sum[i] = 0;
    for (int64_t c = 0; c < job->chunks; c++)
        for (int64_t i = 0; i < n; i++)
            sum[i] += (double)job->chunk[c * job->p + first + i];
    for (int64_t i = 0; i < n; i++)
        job->dparams[first + i] = (real)((double)job->dparams[first + i] + sum[i]);
}

void NP_REAL(np_chunk_sum)(npagg_ctx *ctx, int64_t chunks, int64_t p, const real *chunk,
                           real *dparams)
{
    sum_job job = {chunks, p, chunk, dparams};
    np_parallel(ctx, (p + SUM_BLOCK - 1) / SUM_BLOCK, sum_block, &job);
}
