#include "vmp/run.h"

#include "base/parallel.h"
#include "base/size.h"

/* From so many chunks on a set is worked on by everybody. Fixed, so that sums over sets have a
 * fixed order. */
enum { LARGE_CHUNKS = 8, MAX_GROUPS = 64 };

static int64_t set_size(const np_run *run, int64_t b)
{
    return run->ends[b] - run->offsets[b];
}

static int is_large(const np_run *run, int64_t b)
{
    return NP_REAL(np_rows_chunks)(set_size(run, b), run->pgm.d) >= LARGE_CHUNKS;
}

real *NP_REAL(np_set_weights)(const np_set *set, int32_t t)
{
    const np_record *rec = set->run->rec;
    if (t == 0 || rec->weight_slots == 0)
        return NULL;
    return (real *)rec->w + ((t - 1) % rec->weight_slots) * rec->n + set->first;
}

int NP_REAL(np_set_is_kept)(const np_run *run, int64_t b)
{
    return run->rec->iters[b] <= np_min(2, run->rec->slots);
}

static np_set open_set(const np_run *run, int64_t b, int32_t worker, npagg_ctx *team, double *grad)
{
    const int64_t first = run->offsets[b], d = run->pgm.d;
    np_rows rows = {
        .team = team,
        .worker = worker,
        .lanes = run->lanes,
        .partial = run->work[worker].partial,
        .fast = NP_REAL(np_kernels_choose)(run->ctx->cpu),
        .ref = &NP_REAL(np_kernels_ref),
        .wild = run->rec->wild[b],
        .zero = run->zero,
        .n = set_size(run, b),
        .d = d,
        .m = run->m ? run->m + first * d : NULL,
        .v = run->v ? run->v + first * d : NULL,
        .weight = run->weight ? run->weight + first : NULL,
    };
    return (np_set){run, b, first, rows, &run->work[worker], grad};
}

static double *group_grad(const np_run *run, int64_t group)
{
    return run->grad ? run->grad + group * run->pgm.p : NULL;
}

static int64_t group_size(const np_run *run)
{
    return (run->n_sets + run->groups - 1) / run->groups;
}

int64_t NP_REAL(np_run_group)(const np_run *run, int64_t b)
{
    return is_large(run, b) ? run->groups : b / group_size(run);
}

typedef struct job {
    const np_run *run;
    np_set_fn fn;
} job;

static void run_group(void *arg, int64_t group, int32_t worker)
{
    const job *j = arg;
    const np_run *run = j->run;
    const int64_t size = group_size(run), end = np_min(run->n_sets, (group + 1) * size);
    for (int64_t b = group * size; b < end; b++) {
        if (is_large(run, b))
            continue;
        np_set set = open_set(run, b, worker, NULL, group_grad(run, group));
        j->fn(&set);
    }
}

void NP_REAL(np_run_alone)(const np_run *run, int64_t b, np_set_fn fn)
{
    np_set set = open_set(run, b, 0, run->ctx, run->grad_alone);
    fn(&set);
}

void NP_REAL(np_run_sets)(const np_run *run, np_set_fn fn)
{
    job j = {run, fn};
    np_parallel(run->ctx, run->groups, run_group, &j);
    for (int64_t b = 0; b < run->n_sets; b++)
        if (is_large(run, b))
            NP_REAL(np_run_alone)(run, b, fn);
}

/* Few enough that a gradient for each fits easily, by the batch and the prior alone. */
static int64_t count_groups(const np_run *run)
{
    const int64_t most = np_max(1, np_min(MAX_GROUPS, (INT64_C(1) << 25) / run->pgm.p));
    return np_min(np_max(1, run->n_sets), most);
}

/* Rows of the largest set; of those that one worker does alone if not all. */
static int64_t most_rows(const np_run *run, int all)
{
    int64_t n = 0;
    for (int64_t b = 0; b < run->n_sets; b++)
        if (all || !is_large(run, b))
            n = np_max(n, set_size(run, b));
    return n;
}

static void take_backs(np_arena *arena, np_work *work, int64_t d, int64_t slots)
{
    np_back *back = NP_TAKE(arena, slots, np_back);
    double *arrays = np_arena_take(arena, slots, 4 * d, sizeof(double));
    for (int64_t t = 0; back && t < slots; t++) {
        double *a = arrays + 4 * d * t;
        back[t] = (np_back){a, a + d, a + 2 * d, a + 3 * d};
    }
    work->back = back;
}

static void take_backward(np_arena *arena, np_work *work, const np_run *run, int64_t rows,
                          int64_t slots)
{
    const int64_t d = run->pgm.d;
    work->dpost = np_dpost_take(arena, d, run->pgm.k);
    take_backs(arena, work, d, slots);
    work->w = NP_TAKE(arena, slots, real *);
    work->dd = NP_TAKE(arena, slots, real *);
    work->dd_rows = NP_TAKE2(arena, slots, rows, real);
    for (int64_t t = 0; work->dd && t < slots; t++)
        work->dd[t] = work->dd_rows + t * rows;
}

static np_partial *take_partials(np_arena *arena, int64_t chunks, int64_t d)
{
    np_partial *partial = NP_TAKE(arena, chunks, np_partial);
    double *arrays = NP_TAKE2(arena, chunks, 2 * d, double);
    for (int64_t c = 0; partial && c < chunks; c++) {
        double *a = arrays + 2 * d * c;
        partial[c] = (np_partial){.L = a, .h = a + d};
    }
    return partial;
}

static np_work take_work(np_arena *arena, const np_run *run, int64_t rows, np_purpose purpose,
                         int64_t slots)
{
    np_work work = {0};
    const int64_t d = run->pgm.d, chunks = NP_REAL(np_rows_chunks)(rows, d);
    work.partial = take_partials(arena, chunks, d);
    work.post[0] = np_post_take(arena, d, run->pgm.k);
    work.post[1] = np_post_take(arena, d, run->pgm.k);
    if (purpose != NP_FORWARD)
        take_backward(arena, &work, run, rows, slots);
    if (purpose == NP_IMPLICIT) {
        work.krylov = np_krylov_take(arena, 2 * d);
        work.start = NP_TAKE2(arena, 2, d, double);
        work.solution = NP_TAKE2(arena, 2, d, double);
    }
    return work;
}

void NP_REAL(np_run_take)(np_arena *arena, np_run *run, np_purpose purpose, int32_t slots)
{
    const int32_t workers = np_threads(run->ctx);
    const int64_t most = most_rows(run, 1), most_small = most_rows(run, 0);
    double *zero = NP_TAKE(arena, run->pgm.d, double);
    run->groups = count_groups(run);
    run->zero = zero;
    run->lanes = NP_TAKE(arena, workers, np_lane);
    run->work = NP_TAKE(arena, workers, np_work);
    for (int32_t i = 0; i < workers; i++) {
        const np_lane lane = NP_REAL(np_lane_take)(arena, run->pgm.d);
        const np_work work = take_work(arena, run, i == 0 ? most : most_small, purpose, slots);
        if (run->work) {
            run->lanes[i] = lane;
            run->work[i] = work;
        }
    }
    for (int64_t j = 0; zero && j < run->pgm.d; j++)
        zero[j] = 0;
}
