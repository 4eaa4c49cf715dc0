#include "rounding.h"

#include <math.h>

#include "check.h"
#include "disturbed.h"

#define DRAWS 16
#define CHANGES 16 /* six standard deviations of the roundings in a sum, sqrt(64) / 3 each */
#define STORED 4   /* roundings of the largest entry */

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

static problem *perturbed(test_rng *rng, const problem *p)
{
    problem *r = problem_copy(p);
    perturb(rng, p->p, r->params);
    perturb(rng, p->n * p->d, r->m);
    perturb(rng, p->n * p->d, r->v);
    perturb(rng, p->n, r->weight);
    perturb(rng, p->n_sets * p->q, r->dq);
    perturb(rng, p->n_sets, r->dlogz);
    return r;
}

void rounding_change(const golden_case *c, const problem *p, const outputs *at_p, double *change)
{
    test_rng rng = {20230801};
    for (int a = 0; a < at_p->count; a++)
        change[a] = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        outputs moved = {0};
        problem *r = perturbed(&rng, p);
        disturbed_begin(rng.state);
        golden_case_run(c, r, 64, &moved);
        disturbed_end();
        problem_destroy(r);
        for (int a = 0; a < at_p->count; a++)
            for (int64_t i = 0; i < at_p->list[a].n; i++)
                change[a] = fmax(change[a], fabs(moved.list[a].x[i] - at_p->list[a].x[i]));
        outputs_clear(&moved);
    }
}

double rounding_allowed(const output *exact, double change)
{
    return CHANGES * change + STORED * UNIT_ROUNDOFF * output_largest(exact);
}
