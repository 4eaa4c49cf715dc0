#include "vmp/overlap.h"

#include <string.h>

#include "kernel/special.h"
#include "kernel/tame.h"

/* The moments of the set's posterior, in double. */
static const np_post *read_moments(np_set *set)
{
    const np_overlap *overlap = set->run->user;
    np_post *post = &set->work->post[0];
    const int64_t d = set->run->pgm.d, at = set->b * d;
    for (int64_t j = 0; j < d; j++) {
        post->E[j] = (double)overlap->mean[at + j];
        post->V[j] = (double)overlap->var[at + j];
    }
    NP_REAL(np_rows_meet)(&set->rows, post);
    return post;
}

typedef struct measure {
    const np_kernels *k;
    const np_post *post;
} measure;

static void measure_piece(const void *self, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const measure *s = self;
    double q[NP_BLOCK_ROWS], logs[NP_BLOCK_ROWS];
    (void)rows;
    s->k->quad(&piece->block, s->post->E, s->post->V, q);
    NP_REAL(np_piece_filled)(piece);
    s->k->logs(&piece->block, logs);
    for (int64_t i = 0; i < piece->block.n; i++) {
        out->quad += q[i];
        out->logs += logs[i];
    }
}

static void forward_set(np_set *set)
{
    const np_overlap *overlap = set->run->user;
    const np_post *post = read_moments(set);
    const measure self = {set->rows.wild ? set->rows.ref : set->rows.fast, post};
    const np_partial *sum = NP_REAL(np_rows_run)(&set->rows, measure_piece, &self, 0);
    const double cells = (double)set->rows.n * (double)set->rows.d;
    overlap->value[set->b] = 0.5 * (sum->logs - sum->quad - cells * NP_LOG_2PI);
}

typedef struct spread {
    const np_kernels *k;
    const np_post *post;
    real g;
} spread;

static void spread_piece(const void *self, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const spread *s = self;
    real c[NP_BLOCK_ROWS];
    for (int64_t i = 0; i < piece->block.n; i++)
        c[i] = s->g;
    (void)rows;
    s->k->sums(&piece->block, c, s->post->E, out->L, out->h);
}

static void add_moments(const np_set *set, const np_partial *sum)
{
    const np_overlap *overlap = set->run->user;
    const int64_t d = set->run->pgm.d, at = set->b * d;
    for (int64_t j = 0; j < d; j++) {
        overlap->dmean[at + j] = np_saturate((double)overlap->dmean[at + j] + sum->h[j]);
        overlap->dvar[at + j] = np_saturate((double)overlap->dvar[at + j] - 0.5 * sum->L[j]);
    }
}

/* Gradients of m and v: (A10) with dd = -g, and the gradient of g/2 sum log lam. */
static void push_rows(np_set *set, const np_post *post, real g)
{
    const np_run *run = set->run;
    np_work *work = set->work;
    const int64_t d = run->pgm.d, at = set->first * d;
    np_back *back = &work->back[0];
    memset(back->dh, 0, (size_t)d * sizeof(double));
    memset(back->dL, 0, (size_t)d * sizeof(double));
    memcpy(back->E, post->E, (size_t)d * sizeof(double));
    memcpy(back->V, post->V, (size_t)d * sizeof(double));
    back->tame = !set->rows.wild;
    for (int64_t i = 0; i < set->rows.n; i++)
        work->dd_bound[i] = -g;
    work->dd[0] = work->dd_bound;
    work->w[0] = NULL;
    const np_push push = {
        .n = 1,
        .back = back,
        .w = work->w,
        .dd = work->dd,
        .g = (double)g,
        .dm = run->dm + at,
        .dv = run->dv + at,
    };
    NP_REAL(np_factors_push)(&set->rows, &push);
}

static void backward_set(np_set *set)
{
    const np_overlap *overlap = set->run->user;
    const np_post *post = read_moments(set);
    const real g = np_saturate(overlap->dvalue[set->b]);
    const int tame = !set->rows.wild && np_tame_rows(1, &g);
    const spread self = {tame ? set->rows.fast : set->rows.ref, post, g};
    add_moments(set, NP_REAL(np_rows_run)(&set->rows, spread_piece, &self, 0));
    push_rows(set, post, g);
}

static npagg_status run_sets(np_run *run, np_overlap *overlap, np_purpose purpose, np_set_fn fn)
{
    np_arena scratch = {0};
    run->user = overlap;
    NP_REAL(np_run_take)(&scratch, run, purpose, 1);
    NP_TRY(np_scratch_begin(run->ctx, &scratch));
    NP_REAL(np_run_take)(&scratch, run, purpose, 1);
    NP_REAL(np_run_sets)(run, fn);
    return NPAGG_OK;
}

npagg_status NP_REAL(np_overlap_forward)(np_run *run, np_overlap *overlap)
{
    return run_sets(run, overlap, NP_FORWARD, forward_set);
}

npagg_status NP_REAL(np_overlap_backward)(np_run *run, np_overlap *overlap)
{
    return run_sets(run, overlap, NP_BACKWARD, backward_set);
}
