/*
 * The implicit gradient, MATHS 6. A sweep is a map of the moments x = (E, V) of q(z): x' = M(x), q
 * = Q(x). At its fixed point the gradient that reaches x is y = (dQ/dx)' dq + (dM/dx)' y. This is
 * solved in the 2 D numbers of y, scaled by the posterior's own width; the adjoint of the last
 * sweep then gives the rest.
 */
#include <math.h>
#include <string.h>

#include "vmp/run.h"

#if NP_REAL_BITS == 32
static const double solver_tol = 1e-6, settled = 1e-5;
#else
static const double solver_tol = 1e-11, settled = 1e-12;
#endif

/* work->dpost of q(z) of the last sweep -> y, the gradient of the moments before it, scaled. */
static void last_sweep(np_set *set, double *y)
{
    np_work *work = set->work;
    const int64_t d = set->run->pgm.d;
    const np_post *post = &work->post[0];
    const np_trail trail = {.back = &work->back[0], .before = &work->post[1]};
    NP_REAL(np_adjoint_sweep)(set, set->run->rec->course[set->b].iters, post, &trail);
    for (int64_t j = 0; j < d; j++) {
        y[j] = work->dpost.E[j] * sqrt(post->V[j]);
        y[d + j] = work->dpost.V[j] * post->V[j];
    }
}

/* Scaled y -> gradient of the moments. */
static void unscale(int64_t d, const double *V, const double *y, double *dE, double *dV)
{
    for (int64_t j = 0; j < d; j++) {
        dE[j] = y[j] / sqrt(V[j]);
        dV[j] = y[d + j] / V[j];
    }
}

/* out = y - (dM/dx)' y */
static void apply(void *arg, const double *y, double *out)
{
    np_set *set = arg;
    np_work *work = set->work;
    const int64_t d = set->run->pgm.d;
    np_dpost_clear(d, set->run->pgm.k, &work->dpost);
    unscale(d, work->post[0].V, y, work->dpost.E, work->dpost.V);
    last_sweep(set, out);
    for (int64_t j = 0; j < 2 * d; j++)
        out[j] = y[j] - out[j];
}

/* Whether the last sweep still brought q(z) closer to a fixed point, or there was nothing left to
 * bring. */
static int contracts(const np_set *set)
{
    const np_run *run = set->run;
    const double *res = run->rec->course[set->b].residual;
    return res[0] <= settled || res[0] <= run->vmp.tol || (isfinite(res[1]) && res[0] < res[1]);
}

void NP_REAL(np_implicit_solve)(np_set *set)
{
    const np_run *run = set->run;
    np_work *work = set->work;
    const int64_t d = run->pgm.d;
    const int32_t t = run->rec->course[set->b].iters;
    double *y = run->adjoint + 2 * d * set->b;
    int32_t *iters = &run->rec->course[set->b].grad_iters;
    memset(y, 0, 2 * (size_t)d * sizeof(double));
    *iters = run->iterated ? -1 : 0;
    if (!run->iterated || t < 2 || !contracts(set))
        return;
    NP_REAL(np_adjoint_restore)(set, t, &work->post[0]);
    NP_REAL(np_adjoint_restore)(set, t - 1, &work->post[1]);
    NP_REAL(np_adjoint_start)(set);
    last_sweep(set, work->start);
    const int32_t taken =
        np_krylov_solve(&work->krylov, apply, set, work->start, solver_tol, work->solution);
    *iters = taken < 0 ? -1 : taken + 1;
    unscale(d, work->post[0].V, work->solution, y, y + d);
}
