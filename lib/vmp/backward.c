#include <string.h>

#include "vmp/run.h"

void NP_REAL(np_adjoint_restore)(const np_set *set, int32_t t, np_post *post)
{
    const np_run *run = set->run;
    const np_pgm *pgm = &run->pgm;
    const size_t bytes = (size_t)pgm->d * sizeof(double);
    const double *L = np_record_sums(run->rec, set->b, t),
                 *logw = np_record_logw(run->rec, set->b, t),
                 *mean = np_record_mean(run->rec, set->b);
    for (int64_t k = 0; logw && k < pgm->k; k++)
        post->logw[k] = logw[k];
    if (mean && !run->dlogz) {
        memcpy(post->E, mean, bytes);
        memset(post->V, 0, bytes);
        return;
    }
    run->z->forward(pgm, *np_record_hyper(run->rec, set->b, t), L, L + pgm->d, logw != NULL, post);
    np_moments_forward(pgm->dims, pgm->d, pgm->k, 1, post);
}

void NP_REAL(np_adjoint_start)(const np_set *set)
{
    const np_run *run = set->run;
    np_dpost *dpost = &set->work->dpost;
    const int64_t k = run->pgm.k, kd = k * run->pgm.d;
    if (!run->dq) {
        np_dpost_clear(run->pgm.d, k, dpost);
        return;
    }
    const real *dq = run->dq + set->b * npagg_prior_posterior_count(run->pgm.prior);
    set->rows.fast->widen(kd, dq, dpost->mean);
    set->rows.fast->widen(kd, dq + kd, dpost->var);
    for (int64_t c = 0; c < k; c++)
        dpost->logw[c] = run->z->has_logw ? (double)dq[2 * kd + c] : 0;
    if (k > 1) {
        memset(dpost->E, 0, (size_t)run->pgm.d * sizeof(double));
        memset(dpost->V, 0, (size_t)run->pgm.d * sizeof(double));
    }
}

static double set_dlogz(const np_set *set)
{
    return set->run->dlogz ? (double)set->run->dlogz[set->b] : 0;
}

static real *set_dweight(const np_set *set)
{
    return set->run->dweight ? set->run->dweight + set->first : NULL;
}

/* Gradient of the evidence or bound, (A11), (A12); through q(z) as well where that is not its
 * maximum. */
static void bound_backward(np_set *set, int32_t t, const np_post *post, int through, real *dd)
{
    const np_run *run = set->run;
    const double g = set_dlogz(set), *L = np_record_sums(run->rec, set->b, t), *h = L + run->rec->d;
    np_dpost *dpost = through ? &set->work->dpost : NULL;
    const np_sweep sweep = {
        .post = post,
        .L = L,
        .h = h,
        .w = NP_REAL(np_set_weights)(set, t),
        .stats = &run->rec->course[set->b].stats,
    };
    run->noise->bound_backward(&run->pgm, &set->rows, &sweep, g, dd, dpost, set->grad);
    run->z->bound_backward(&run->pgm, L, h, post, g, dpost, set->grad);
    if (run->dweight)
        NP_REAL(np_factors_bracket)(&run->pgm, &set->rows, run->noise, post, g, set_dweight(set));
}

/* Adjoint of the z-update of sweep t: dpost -> back, dhyper. */
static double z_backward(np_set *set, int32_t t, const np_post *post, np_back *back, double *grad)
{
    const np_run *run = set->run;
    const int64_t d = run->pgm.d;
    const double *L = np_record_sums(run->rec, set->b, t);
    double dhyper;
    if (run->iterated)
        np_moments_backward(run->pgm.dims, d, run->pgm.k, post, &set->work->dpost);
    run->z->backward(&run->pgm, *np_record_hyper(run->rec, set->b, t), L, L + d, post,
                     &set->work->dpost, back->dL, back->dh, &dhyper, grad);
    memcpy(back->E, post->E, (size_t)d * sizeof(double));
    memcpy(back->V, post->V, (size_t)d * sizeof(double));
    back->tame = NP_REAL(np_rows_tame)(&set->rows, back->dL, back->dh);
    return dhyper;
}

void NP_REAL(np_adjoint_sweep)(np_set *set, int32_t t, const np_post *post, const np_trail *trail)
{
    const np_run *run = set->run;
    np_dpost *dpost = &set->work->dpost;
    const double dhyper = z_backward(set, t, post, trail->back, trail->grad);
    const np_pull pull = {
        .back = trail->back,
        .before = trail->before,
        .w = NP_REAL(np_set_weights)(set, t - 1),
        .dd = trail->dd,
        .dpost = trail->before && !trail->drop ? dpost : NULL,
        .dweight = trail->dweight,
        .grad = trail->grad,
    };
    if (trail->before)
        np_dpost_clear(run->pgm.d, run->pgm.k, dpost);
    run->noise->pull(&run->pgm, &set->rows, &pull);
    if (trail->before && run->z->has_hyper)
        run->z->hyper_backward(&run->pgm, trail->before, dhyper, dpost, trail->grad);
}

/* A sweep whose q(z) gave weights but whose own sums get no gradient. */
static void frozen_back(const np_rows *rows, const np_post *post, np_back *back)
{
    const int64_t d = rows->d;
    memset(back->dh, 0, (size_t)d * sizeof(double));
    memset(back->dL, 0, (size_t)d * sizeof(double));
    memcpy(back->E, post->E, (size_t)d * sizeof(double));
    memcpy(back->V, post->V, (size_t)d * sizeof(double));
    back->tame = !rows->wild;
}

/* With fixed weights all sweeps have the same sums: one gradient of them, centred on that of the
 * last sweep, back[0]. */
static void collapse(const np_rows *rows, int64_t n, np_back *back)
{
    for (int64_t t = 1; t < n; t++)
        for (int64_t j = 0; j < rows->d; j++) {
            back[0].dh[j] += back[t].dh[j];
            back[0].dL[j] += back[t].dL[j] + back[t].dh[j] * (back[0].E[j] - back[t].E[j]);
        }
    if (n > 1)
        back->tame = NP_REAL(np_rows_tame)(rows, back->dL, back->dh);
}

static void push(np_set *set, int64_t n)
{
    const np_run *run = set->run;
    np_work *work = set->work;
    const int64_t at = set->first * run->pgm.d;
    if (!run->noise->has_weights)
        collapse(&set->rows, n, work->back);
    if (!run->dm && !run->dv)
        return;
    const np_push all = {
        .n = run->noise->has_weights ? n : 1,
        .back = work->back,
        .w = work->w,
        .dd = work->dd,
        .pgm = &run->pgm,
        .slope =
            run->noise->has_weights && !NP_REAL(np_set_keeps_dd)(run, set->b) ? run->noise : NULL,
        .g = set_dlogz(set),
        .dm = run->dm ? run->dm + at : NULL,
        .dv = run->dv ? run->dv + at : NULL,
    };
    NP_REAL(np_factors_push)(&set->rows, &all);
}

/*
 * From the last sweep back over `steps` of them; work->dpost is the gradient of the last q(z),
 * work->post[0]. Slot i of the worker's arrays is sweep T - i.
 */
static void go_back(np_set *set, int32_t steps)
{
    const np_run *run = set->run;
    np_work *work = set->work;
    np_post *now = &work->post[0], *before = &work->post[1];
    int32_t t = run->rec->course[set->b].iters, i = 0;
    for (;; t--, i++) {
        const int end = t == 1 || i + 1 == steps;
        if (t > 1)
            NP_REAL(np_adjoint_restore)(set, t - 1, before);
        const np_trail trail = {
            .back = &work->back[i],
            .before = t > 1 ? before : NULL,
            .dd = t > 1 && NP_REAL(np_set_keeps_dd)(run, set->b) ? work->dd[i + 1] : NULL,
            .dweight = set_dweight(set),
            .grad = set->grad,
            .drop = end,
        };
        NP_REAL(np_adjoint_sweep)(set, t, now, &trail);
        work->w[i] = run->noise->has_weights ? NP_REAL(np_set_weights)(set, t - 1) : NULL;
        if (end)
            break;
        np_post *swap = before;
        before = now;
        now = swap;
    }
    if (t > 1) {
        frozen_back(&set->rows, before, &work->back[++i]);
        work->w[i] = NULL;
    }
    push(set, i + 1);
}

/* The last q(z) and its gradient, from dq and dlogz. */
static void start(np_set *set, int through)
{
    np_work *work = set->work;
    const int32_t t = set->run->rec->course[set->b].iters;
    NP_REAL(np_adjoint_restore)(set, t, &work->post[0]);
    NP_REAL(np_adjoint_start)(set);
    work->dd[0] = set->run->dlogz ? work->dd_bound : NULL;
    if (set->run->dlogz)
        bound_backward(set, t, &work->post[0], through, work->dd[0]);
}

void NP_REAL(np_backward_unrolled)(np_set *set)
{
    start(set, set->run->iterated);
    go_back(set, set->run->rec->course[set->b].iters);
}

void NP_REAL(np_backward_last_step)(np_set *set)
{
    start(set, set->run->iterated);
    go_back(set, 1);
}

/* The last sweep alone, but with all that earlier ones add to the gradient of its q(z); the bound
 * is at its maximum. */
void NP_REAL(np_backward_implicit)(np_set *set)
{
    const np_run *run = set->run;
    const int64_t d = run->pgm.d;
    np_dpost *dpost = &set->work->dpost;
    const double *y = run->adjoint + 2 * d * set->b;
    if (run->rec->course[set->b].grad_iters < 0) {
        if (NP_REAL(np_set_is_kept)(set->run, set->b))
            NP_REAL(np_backward_unrolled)(set);
        return;
    }
    start(set, 0);
    for (int64_t j = 0; j < d; j++) {
        dpost->E[j] += y[j];
        dpost->V[j] += y[d + j];
    }
    go_back(set, 1);
}
