#include "vmp/run.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/parallel.h"
#include "base/size.h"

/* From so many chunks on a set is worked on by everybody, and from two on in a batch of few sets.
 * By the batch alone, so that sums over sets have a fixed order. */
enum {
    LARGE_CHUNKS = 32,
    FEW_SETS = 3,
    MAX_GROUPS = 64,
    LITTLE_CELLS = 16384,
    GROUP_CELLS = 8192,
    FETCH_BYTES = 1 << 19, /* a worker's share of m */
    AHEAD_BYTES = 1 << 14,
    AHEAD_INNER = 1 << 13, /* into the first-level cache */
    DD_ROWS = 1 << 18
};

static int64_t set_size(const np_run *run, int64_t b)
{
    return run->ends[b] - run->offsets[b];
}

static int is_large(const np_run *run, int64_t b)
{
    return set_size(run, b) > run->small;
}

int NP_REAL(np_set_keeps_dd)(const np_run *run, int64_t b)
{
    return set_size(run, b) <= DD_ROWS;
}

real *NP_REAL(np_set_weights)(const np_set *set, int32_t t)
{
    const np_record *rec = set->run->rec;
    if (t == 0 || rec->weight_slots == 0)
        return NULL;
    return (real *)rec->w + np_record_slot(rec->weight_slots, t) * rec->n + set->first;
}

int NP_REAL(np_set_is_kept)(const np_run *run, int64_t b)
{
    return run->rec->course[b].iters <= np_min(2, run->rec->slots);
}

/* Where the set's rows are kept from pass to pass, if they are. */
static np_kept *open_kept(const np_run *run, int64_t b, int32_t worker)
{
    np_kept *kept = &run->work[worker].kept;
    kept->full = kept->moved = 0;
    return kept->lam && set_size(run, b) <= run->cut.few ? kept : NULL;
}

/* Rows of the batch. */
static int64_t count_rows(const np_run *run)
{
    return run->n_sets > 0 ? run->ends[run->n_sets - 1] : 0;
}

static np_set open_set(const np_run *run, int64_t b, int32_t worker, npagg_ctx *team, double *grad)
{
    const int64_t first = run->offsets[b], d = run->pgm.d;
    np_rows rows = {
        .team = team,
        .worker = worker,
        .lanes = run->lanes,
        .partial = run->work[worker].partial,
        .kept = open_kept(run, b, worker),
        .turn = &run->work[worker].turn,
        .fast = NP_REAL(np_kernels_choose)(run->ctx->cpu),
        .ref = &NP_REAL(np_kernels_ref),
        .wild = run->rec->course[b].wild, /* which forward finds anew */
        .zero = run->zero,
        .spare = run->work[worker].spare,
        .dims = run->pgm.dims,
        .n = set_size(run, b),
        .d = d,
        .cut = run->cut,
        .ahead = run->ahead,
        .inner = run->inner,
        .m = run->m ? run->m + first * d : NULL,
        .v = run->v ? run->v + first * d : NULL,
        .weight = run->weight ? run->weight + first : NULL,
    };
    return (np_set){run, b, first, rows, &run->work[worker], grad};
}

void NP_REAL(np_run_take_grad)(np_arena *arena, np_run *run)
{
    const int64_t apart = NP_APART / sizeof(double);
    run->grad_stride = (run->pgm.p + apart - 1) / apart * apart;
    run->grad = NP_TAKE2(arena, run->groups + 1, run->grad_stride, double);
    run->grad_alone = NP_REAL(np_run_grad)(run, run->groups);
}

double *NP_REAL(np_run_grad)(const np_run *run, int64_t group)
{
    return run->grad ? run->grad + group * run->grad_stride : NULL;
}

static double *clear_grad(const np_run *run, int64_t group)
{
    double *grad = NP_REAL(np_run_grad)(run, group);
    if (grad)
        memset(grad, 0, (size_t)run->pgm.p * sizeof(double));
    return grad;
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
    double *grad = clear_grad(run, group);
    for (int64_t b = group * size; b < end; b++) {
        if (is_large(run, b))
            continue;
        np_set set = open_set(run, b, worker, NULL, grad);
        j->fn(&set);
    }
}

/* Numbers that are visited. */
static double count_cells(const np_run *run)
{
    const double vectors = (double)count_rows(run) + (double)run->n_sets * (double)run->pgm.k;
    return vectors * (double)run->pgm.d * (double)run->vmp.max_iters;
}

/* Whether the batch is done before another worker would have woken up. */
static int is_little(const np_run *run)
{
    return count_cells(run) < LITTLE_CELLS;
}

npagg_ctx *NP_REAL(np_run_team)(const np_run *run)
{
    return run->workers > 1 ? run->ctx : NULL;
}

void NP_REAL(np_run_alone)(const np_run *run, int64_t b, np_set_fn fn)
{
    np_set set = open_set(run, b, 0, NP_REAL(np_run_team)(run), run->grad_alone);
    fn(&set);
}

void NP_REAL(np_run_sets)(const np_run *run, np_set_fn fn)
{
    job j = {run, fn};
    clear_grad(run, run->groups);
    np_parallel(NP_REAL(np_run_team)(run), run->groups, run_group, &j);
    for (int64_t b = 0; b < run->n_sets; b++)
        if (is_large(run, b))
            NP_REAL(np_run_alone)(run, b, fn);
}

/* Few enough that a gradient for each fits easily and is worth its sum, by the batch and the prior
 * alone. */
static int64_t count_groups(const np_run *run)
{
    const int64_t fit = np_min(MAX_GROUPS, (INT64_C(1) << 25) / run->pgm.p);
    const int64_t most = np_max(1, (int64_t)fmin((double)fit, count_cells(run) / GROUP_CELLS));
    const int64_t size = np_max(1, (run->n_sets + most - 1) / most);
    return np_max(1, (run->n_sets + size - 1) / size);
}

static np_most_rows find_most_rows(const np_run *run)
{
    np_most_rows most = {0};
    for (int64_t b = 0; b < run->n_sets; b++) {
        const int64_t n = set_size(run, b);
        most.all = np_max(most.all, n);
        if (!is_large(run, b))
            most.small = np_max(most.small, n);
        if (NP_REAL(np_set_keeps_dd)(run, b))
            most.dd = np_max(most.dd, n);
        if (run->noise->has_weights && n <= run->cut.few)
            most.few = np_max(most.few, n);
    }
    return most;
}

static void take_backs(np_arena *arena, np_work *work, int64_t d, int64_t slots)
{
    np_back *back = NP_TAKE(arena, slots, np_back);
    double *arrays = np_arena_take(arena, slots, 4 * d, sizeof(double));
    for (int64_t t = 0; back && t < slots; t++) {
        double *a = arrays + 4 * d * t;
        back[t] = (np_back){.dh = a, .dL = a + d, .E = a + 2 * d, .V = a + 3 * d};
    }
    work->back = back;
}

static void take_backward(np_arena *arena, np_work *work, const np_run *run, int64_t rows,
                          int64_t dd_rows, int64_t slots)
{
    const int64_t d = run->pgm.d;
    work->dpost = np_dpost_take(arena, d, run->pgm.k);
    take_backs(arena, work, d, slots);
    work->w = NP_TAKE(arena, slots, real *);
    work->dd = NP_TAKE(arena, slots, real *);
    work->dd_rows = NP_TAKE2(arena, slots, dd_rows, real);
    for (int64_t t = 0; work->dd && t < slots; t++)
        work->dd[t] = work->dd_rows + t * dd_rows;
    if (run->dlogz || run->user)
        work->dd_bound = NP_TAKE(arena, rows, real);
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

static void take_kept(np_arena *arena, int64_t n, int64_t d, np_kept *kept)
{
    kept->lam = NP_TAKE2(arena, n, d, real);
    kept->g = NP_TAKE2(arena, n, d, real);
    kept->q = NP_TAKE(arena, n, double);
    kept->centre = NP_TAKE(arena, d, double);
    kept->V = NP_TAKE(arena, d, double);
    kept->a = NP_TAKE(arena, d, real);
    kept->b = NP_TAKE(arena, d, real);
}

static np_work take_work(np_arena *arena, const np_run *run, int64_t rows, np_purpose purpose,
                         int64_t slots)
{
    np_work work = {.turn = purpose != NP_FORWARD}; /* a backward begins where a forward ended */
    const int64_t d = run->pgm.d, chunks = NP_REAL(np_rows_chunks_most)(rows, run->cut);
    work.partial = take_partials(arena, chunks, d);
    work.spare = NP_TAKE(arena, d, double);
    if (run->most.few > 0)
        take_kept(arena, run->most.few, d, &work.kept);
    work.post[0] = np_post_take(arena, d, run->pgm.k);
    work.post[1] = np_post_take(arena, d, run->pgm.k);
    if (purpose != NP_FORWARD)
        take_backward(arena, &work, run, rows, np_min(rows, run->most.dd), slots);
    if (purpose == NP_IMPLICIT) {
        work.krylov = np_krylov_take(arena, 2 * d);
        work.start = NP_TAKE2(arena, 2, d, double);
        work.solution = NP_TAKE2(arena, 2, d, double);
    }
    return work;
}

/* Nothing is fetched ahead if a worker's rows are few enough to stay in the caches that are its
 * own, or nearly so: up to about this share, as measured, asking costs more than it saves. */
static void settle_fetching(np_run *run)
{
    const double share = (double)count_rows(run) * (double)run->pgm.d / run->workers;
    run->inner = (run->ctx->cpu & NP_CPU_INNER) != 0;
    run->ahead = run->inner ? AHEAD_INNER : AHEAD_BYTES;
    if (share * sizeof(real) <= FETCH_BYTES)
        run->ahead = 0;
}

static void settle(np_run *run)
{
    if (run->settled)
        return;
    if (run->workers == 0)
        run->workers = is_little(run) ? 1 : np_threads(run->ctx);
    run->cut = NP_REAL(np_rows_cut)(run->pgm.d);
    run->small = (run->n_sets <= FEW_SETS ? 1 : LARGE_CHUNKS - 1) * run->cut.chunk;
    run->most = find_most_rows(run);
    run->groups = count_groups(run);
    settle_fetching(run);
    run->settled = 1;
}

void NP_REAL(np_run_take)(np_arena *arena, np_run *run, np_purpose purpose, int32_t slots)
{
    settle(run);
    double *zero = NP_TAKE(arena, run->pgm.d, double);
    run->zero = zero;
    run->lanes = NP_TAKE(arena, run->workers, np_lane);
    run->work = NP_TAKE(arena, run->workers, np_work);
    for (int32_t i = 0; i < run->workers; i++) {
        const np_lane lane = NP_REAL(np_lane_take)(arena, run->pgm.d);
        const np_work work =
            take_work(arena, run, i == 0 ? run->most.all : run->most.small, purpose, slots);
        if (run->work) {
            run->lanes[i] = lane;
            run->work[i] = work;
        }
    }
    for (int64_t j = 0; zero && j < run->pgm.d; j++)
        zero[j] = 0;
}
