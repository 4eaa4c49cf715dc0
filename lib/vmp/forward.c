#include <math.h>
#include <string.h>

#include "vmp/run.h"

/* The rows' part of the evidence that forward needs from them. */
static np_evidence needed_evidence(const np_run *run)
{
    if (!run->rec->evidence)
        return NP_EVIDENCE_NONE;
    return run->noise->has_weights ? NP_EVIDENCE_LOGS : NP_EVIDENCE_QUAD;
}

/* Adds what the base record knows of the set's first rows to the sums over the rest. */
static void add_base(const np_set *set, np_partial *sum)
{
    const np_record *base = set->run->base;
    np_partial first = base->course[set->b].stats;
    first.L = np_record_sums(base, set->b, 1);
    first.h = first.L + base->d;
    np_partial_merge(set->rows.dims, base->d, &first, needed_evidence(set->run) == NP_EVIDENCE_QUAD,
                     sum);
}

/* Sums over all rows with all weights 1; those that a base has are not visited again. */
static np_partial *first_sums(const np_set *set)
{
    const np_run *run = set->run;
    np_rows rest = set->rows;
    if (!run->base)
        return NP_REAL(np_factors_sums)(&rest, needed_evidence(run));
    const int64_t known = run->base->ends[set->b] - run->base->offsets[set->b];
    rest.n -= known;
    rest.kept = NULL;
    rest.m = rest.m ? rest.m + known * rest.d : NULL;
    rest.v = rest.v ? rest.v + known * rest.d : NULL;
    rest.weight = rest.weight ? rest.weight + known : NULL;
    np_partial *sum = NP_REAL(np_factors_sums)(&rest, needed_evidence(run));
    add_base(set, sum);
    return sum;
}

/* (S1), (S2) of the first sweep, with a look at every number; 0 if the set cannot go on. */
static int begin(np_set *set)
{
    const np_run *run = set->run;
    np_record *rec = run->rec;
    const np_partial *sum = first_sums(set);
    double *L = np_record_sums(rec, set->b, 1), *h = L + rec->d;
    memcpy(L, sum->L, (size_t)rec->d * sizeof(double));
    memcpy(h, sum->h, (size_t)rec->d * sizeof(double));
    rec->course[set->b].stats = *sum;
    rec->course[set->b].stats.L = rec->course[set->b].stats.h = NULL;
    rec->course[set->b].wild = set->rows.wild = sum->wild;
    rec->course[set->b].bad = sum->bad;
    *np_record_hyper(rec, set->b, 1) = 1;
    return !sum->bad;
}

/* Whether sweep t was the last; keeps the residual where somebody may ask for it. */
static int settle(const np_set *set, int32_t t, const np_post *now, const np_post *before)
{
    const np_run *run = set->run;
    const int implicit = run->vmp.grad == NPAGG_GRAD_IMPLICIT; /* wants that before the last too */
    double *res = run->rec->course[set->b].residual;
    if (!run->iterated) {
        res[0] = res[1] = 0;
        return 1;
    }
    if (t == 1)
        res[0] = res[1] = INFINITY;
    else if (run->vmp.tol > 0 || t >= run->vmp.max_iters - implicit) {
        res[1] = res[0];
        res[0] = run->pgm.dims->residual(run->pgm.d, now->E, now->V, before->E, before->V);
    }
    return t == run->vmp.max_iters || (t >= 2 && run->vmp.tol > 0 && res[0] <= run->vmp.tol);
}

/* The rest of sweep t after its z-update: hyper-prior, weights, bound; and the sums of sweep t + 1.
 */
static void finish_sweep(np_set *set, int32_t t, int last, const np_post *post)
{
    const np_run *run = set->run;
    np_record *rec = run->rec;
    const double *L = np_record_sums(rec, set->b, t);
    double *next = last ? NULL : np_record_sums(rec, set->b, t + 1);
    const double prior_part = rec->evidence ? run->z->bound(&run->pgm, L, L + rec->d, post) : 0;
    const np_sweep sweep = {
        .post = post,
        .L = L,
        .h = L + rec->d,
        .next_L = next,
        .next_h = next ? next + rec->d : NULL,
        .w = NP_REAL(np_set_weights)(set, t),
        .stats = &rec->course[set->b].stats,
        .bound = rec->evidence,
    };
    if (!last || rec->evidence || rec->last_weights)
        run->noise->forward(&run->pgm, &set->rows, &sweep);
    if (rec->evidence) {
        const double bound = run->noise->bound(&run->pgm, &sweep) + prior_part;
        rec->course[set->b].bound = bound;
        if (t <= rec->trace_room)
            rec->trace[set->b * rec->trace_room + t - 1] = bound;
        rec->course[set->b].bad |= !isfinite(bound);
    }
    if (!last)
        *np_record_hyper(rec, set->b, t + 1) =
            run->z->has_hyper ? run->z->hyper_forward(&run->pgm, post) : 1;
}

/* q of the set, in the prior's layout. */
static void write_q(const np_set *set, const np_post *post)
{
    const np_run *run = set->run;
    const int64_t k = run->pgm.k, kd = k * run->pgm.d;
    const np_kernels *kernels = set->rows.fast;
    real *q = run->q + set->b * npagg_prior_posterior_count(run->pgm.prior);
    int finite = kernels->narrow(kd, post->mean, q) & kernels->narrow(kd, post->var, q + kd);
    if (run->z->has_logw)
        finite &= kernels->narrow(k, post->logw, q + 2 * kd);
    run->rec->course[set->b].bad |= !finite;
}

/* What backward is not to compute again. */
static void keep_post(const np_set *set, int32_t t, const np_post *post)
{
    const np_run *run = set->run;
    double *logw = np_record_logw(run->rec, set->b, t), *mean = np_record_mean(run->rec, set->b);
    for (int64_t k = 0; logw && k < run->pgm.k; k++)
        logw[k] = post->logw[k];
    if (mean)
        memcpy(mean, post->E, (size_t)run->pgm.d * sizeof(double));
}

/* q(z) of sweep t from its sums; without V where nobody reads it. */
static void update(np_set *set, int32_t t, np_post *post)
{
    const np_run *run = set->run;
    const np_pgm *pgm = &run->pgm;
    const double *L = np_record_sums(run->rec, set->b, t);
    run->z->forward(pgm, *np_record_hyper(run->rec, set->b, t), L, L + pgm->d, 0, post);
    np_moments_forward(pgm->dims, pgm->d, pgm->k, run->iterated || run->rec->evidence, post);
    keep_post(set, t, post);
    NP_REAL(np_rows_meet)(&set->rows, post);
    run->rec->course[set->b].wild = set->rows.wild;
}

static void sweep(np_set *set)
{
    const np_run *run = set->run;
    np_post *now = &set->work->post[0], *before = &set->work->post[1];
    for (int32_t t = 1;; t++) {
        update(set, t, now);
        const int last = settle(set, t, now, before);
        finish_sweep(set, t, last, now);
        if (last) {
            run->rec->course[set->b].iters = t;
            break;
        }
        np_post *swap = before;
        before = now;
        now = swap;
    }
    if (run->q)
        write_q(set, now);
}

void NP_REAL(np_forward_set)(np_set *set)
{
    if (begin(set))
        sweep(set);
    set->work->bad |= set->run->rec->course[set->b].bad;
}
