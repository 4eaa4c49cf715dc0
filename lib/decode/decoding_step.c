#include <stdatomic.h>
#include <string.h>

#include "base/parallel.h"
#include "decode/decoding.h"
#include "nn/tile.h"

typedef struct step_job {
    const np_decoding *e;
    np_grade_fn grade;
    void *arg;
    _Atomic int bad;
} step_job;

/* Down and up again; what its tiles keep is the worker's. */
static void run_grain(step_job *job, int64_t grain, int32_t worker, real *grad)
{
    const np_decoding *e = job->e;
    const np_plan *plan = &e->plan;
    const int64_t first = plan->grain_tile[grain], end = plan->grain_tile[grain + 1];
    const int64_t slot = worker * plan->grain_tiles;
    for (int64_t t = first; t < end; t++)
        NP_REAL(np_decoding_forward_tile)(e, t, slot + t - first, worker);
    if (!job->grade(job->arg, plan->grain_set[grain], plan->grain_set[grain + 1], worker))
        atomic_store_explicit(&job->bad, 1, memory_order_relaxed);
    NP_REAL(np_decoding_backward_grain)(e, grain, slot, worker, grad);
}

static void run_chunk(void *arg, int64_t c, int32_t worker)
{
    step_job *job = arg;
    const np_decoding *e = job->e;
    const int64_t grains = e->plan.grains, p = e->nets.params;
    real *grad = e->chunk + c * p;
    memset(grad, 0, (size_t)p * sizeof(real));
    for (int64_t g = np_chunk_first(grains, e->chunks, c);
         g < np_chunk_first(grains, e->chunks, c + 1); g++)
        run_grain(job, g, worker, grad);
}

void NP_REAL(np_decoding_step)(np_decoding *e, np_grade_fn grade, void *arg, int *bad)
{
    step_job job = {.e = e, .grade = grade, .arg = arg};
    NP_REAL(np_decoding_forward_begin)(e);
    NP_REAL(np_decoding_backward_begin)(e);
    np_parallel(e->ctx, e->chunks, run_chunk, &job);
    NP_REAL(np_decoding_backward_end)(e);
    *bad = atomic_load_explicit(&job.bad, memory_order_relaxed);
}
