#include "rounding.h"

#include <math.h>

#include "check.h"

static double sign(test_rng *rng)
{
    return rng_int(rng, 0, 1) ? UNIT_ROUNDOFF : -UNIT_ROUNDOFF;
}

static void round_all(int64_t n, double *x)
{
    for (int64_t i = 0; x && i < n; i++)
        x[i] = (float)x[i];
}

problem *rounding_inputs(const problem *p)
{
    problem *r = problem_copy(p);
    round_all(p->p, r->params);
    round_all(p->n * p->d, r->m);
    round_all(p->n * p->d, r->v);
    round_all(p->n, r->weight);
    round_all(p->n_sets * p->q, r->dq);
    round_all(p->n_sets, r->dlogz);
    return r;
}

static void perturb(test_rng *rng, int64_t n, double *x)
{
    for (int64_t i = 0; x && i < n; i++)
        x[i] *= 1 + sign(rng);
}

/* Entries, columns and rows of x [n,d], each by a sign of its own. */
static void perturb_matrix(test_rng *rng, int64_t n, int64_t d, double *x)
{
    perturb(rng, n * d, x);
    for (int64_t j = 0; x && j < d; j++) {
        double factor = 1 + sign(rng);
        for (int64_t i = 0; i < n; i++)
            x[i * d + j] *= factor;
    }
    for (int64_t i = 0; x && i < n; i++) {
        double factor = 1 + sign(rng);
        for (int64_t j = 0; j < d; j++)
            x[i * d + j] *= factor;
    }
}

static problem *perturbed(test_rng *rng, const problem *p)
{
    problem *r = problem_copy(p);
    perturb(rng, p->p, r->params);
    perturb(rng, p->n, r->weight);
    perturb(rng, p->n_sets * p->q, r->dq);
    perturb(rng, p->n_sets, r->dlogz);
    for (int64_t b = 0; b < p->n_sets; b++) {
        int64_t begin = p->offsets[b], n = p->offsets[b + 1] - begin;
        perturb_matrix(rng, n, p->d, r->m + begin * p->d);
        perturb_matrix(rng, n, p->d, r->v + begin * p->d);
    }
    return r;
}

static void add_perturbations(const golden_case *c, const problem *p, const outputs *at_p,
                              int draws, double *change)
{
    test_rng rng = {20230801};
    for (int draw = 0; draw < draws; draw++) {
        outputs moved = {0};
        problem *r = perturbed(&rng, p);
        golden_case_run(c, r, 64, &moved);
        problem_destroy(r);
        for (int a = 0; a < at_p->count; a++)
            for (int64_t i = 0; i < at_p->list[a].n; i++)
                change[a] = fmax(change[a], fabs(moved.list[a].x[i] - at_p->list[a].x[i]));
        outputs_clear(&moved);
    }
}

/* --- the posterior mean --- */

/* omega w of row i. */
static double coefficient(const problem *p, const outputs *at_p, int64_t i)
{
    return (p->weight ? p->weight[i] : 1) * outputs_find(at_p, "", "w")->x[i];
}

/* u times the size of what is added up to the posterior mean of set b in dimension j. */
static double mean_rounding(const problem *p, const outputs *at_p, int64_t b, int64_t j)
{
    const double *mean = outputs_find(at_p, "", "mean")->x;
    double size = 0, L = 0, h = 0;
    for (int64_t k = 0; k < p->k; k++)
        size = fmax(size, fabs(mean[(b * p->k + k) * p->d + j]));
    for (int64_t i = p->offsets[b]; i < p->offsets[b + 1]; i++) {
        const double c = coefficient(p, at_p, i);
        L += c > 0 ? c / p->v[i * p->d + j] : 0;
        h += c > 0 ? c / p->v[i * p->d + j] * fabs(p->m[i * p->d + j]) : 0;
    }
    return UNIT_ROUNDOFF * fmax(size, L > 0 ? h / L : 0);
}

/* Largest changes of dm, dv, dweight in column j of set b. */
typedef struct {
    double m, v, weight;
} moves;

/*
 * (A6), (A7), (A10), (A11) with x = m - E moved by dE and all else held fixed: dm moves by
 * dlogz omega w dE / v, dv by dm dE / v, dweight by dm dE / omega.
 */
static void widen_moves(const problem *p, const outputs *at_p, const output *dm, double dlogz,
                        int64_t b, int64_t j, moves *most)
{
    const double dE = mean_rounding(p, at_p, b, j);
    for (int64_t i = p->offsets[b]; i < p->offsets[b + 1]; i++) {
        const double c = coefficient(p, at_p, i), at = fabs(dm->x[i * p->d + j]);
        if (!(c > 0))
            continue;
        most->m = fmax(most->m, fabs(dlogz) * c / p->v[i * p->d + j] * dE);
        most->v = fmax(most->v, at / p->v[i * p->d + j] * dE);
        most->weight = fmax(most->weight, p->weight ? at / p->weight[i] * dE : 0);
    }
}

static void add_move(const outputs *at_p, const char *gradient, const char *name, double move,
                     double *change)
{
    const output *o = outputs_find(at_p, gradient, name);
    if (o)
        change[o - at_p->list] += move;
}

/* What moving the posterior mean against the rows does to their gradients. */
static void add_mean(const problem *p, const outputs *at_p, const char *gradient, int with_logz,
                     double *change)
{
    const output *dm = outputs_find(at_p, gradient, "m");
    moves most = {0};
    for (int64_t b = 0; dm && b < p->n_sets; b++)
        for (int64_t j = 0; j < p->d; j++)
            widen_moves(p, at_p, dm, with_logz ? p->dlogz[b] : 0, b, j, &most);
    add_move(at_p, gradient, "m", most.m, change);
    add_move(at_p, gradient, "v", most.v, change);
    add_move(at_p, gradient, "weight", most.weight * sqrt((double)p->d), change);
}

void rounding_change(const golden_case *c, const problem *p, const outputs *at_p, int draws,
                     double *change)
{
    for (int a = 0; a < at_p->count; a++)
        change[a] = 0;
    add_perturbations(c, p, at_p, draws, change);
    add_mean(p, at_p, "g", 1, change);
    add_mean(p, at_p, "gz", 0, change);
}
