#include "claim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "difference.h"

typedef struct {
    int64_t n, d;
} size;

static const size sizes[] = {{0, 128},  {0, 1},    {1, 1},    {1, 127}, {2, 9},
                             {2, 1000}, {31, 8},   {31, 129}, {33, 7},  {33, 128},
                             {4097, 1}, {4097, 8}, {5, 1000}};
#define N_SIZES ((int)(sizeof sizes / sizeof *sizes))
#define N_RANDOM 8

static void claim_for_flavour(npagg_ctx *ctx, test_rng *rng, const flavour *f, claim holds)
{
    for (int j = 0; j < N_SIZES + N_RANDOM; j++)
        for (int precision = 32; precision <= 64; precision += 32) {
            int64_t n = j < N_SIZES ? sizes[j].n : rng_int(rng, 0, 40);
            int64_t d = j < N_SIZES ? sizes[j].d : rng_int(rng, 1, 40);
            holds(ctx, rng, f, n, d, precision);
        }
}

void claim_for_all(npagg_ctx *ctx, uint64_t seed, claim holds)
{
    test_rng rng = {seed};
    for (int f = 0; f < FLAVOURS; f++)
        claim_for_flavour(ctx, &rng, &flavours[f], holds);
}

void claim_for_kind(npagg_ctx *ctx, uint64_t seed, prior_kind kind, claim holds)
{
    test_rng rng = {seed};
    for (int f = 0; f < FLAVOURS; f++)
        if (flavours[f].kind == kind)
            claim_for_flavour(ctx, &rng, &flavours[f], holds);
}

problem *draw_problem(test_rng *rng, const flavour *f, int64_t n, int64_t d, int precision,
                      int weighted)
{
    const int64_t set_sizes[] = {n, 3, 0};
    problem *p = problem_create(rng, f->kind, f->robust, d, f->k, 3, set_sizes, weighted);
    if (precision == 32)
        problem_round(p);
    return p;
}

/* Rows from[i] of x [.,width]. */
static double *pick_rows(const double *x, int64_t width, int64_t n, const int64_t *from)
{
    if (!x)
        return NULL;
    double *y = calloc((size_t)(n * width) + 1, sizeof *y);
    TEST_ASSERT_NOT_NULL(y);
    for (int64_t i = 0; i < n; i++)
        memcpy(y + i * width, x + from[i] * width, (size_t)width * sizeof *y);
    return y;
}

problem *problem_pick(const problem *p, int64_t n_sets, const int64_t *from_set,
                      const int64_t *offsets, const int64_t *from_row)
{
    problem *c = malloc(sizeof *c);
    TEST_ASSERT_NOT_NULL(c);
    *c = *p;
    c->n_sets = n_sets;
    c->n = offsets[n_sets];
    c->offsets = malloc((size_t)(n_sets + 1) * sizeof *offsets);
    TEST_ASSERT_NOT_NULL(c->offsets);
    memcpy(c->offsets, offsets, (size_t)(n_sets + 1) * sizeof *offsets);
    c->params = pick_rows(p->params, p->p, 1, (const int64_t[]){0});
    c->m = pick_rows(p->m, p->d, c->n, from_row);
    c->v = pick_rows(p->v, p->d, c->n, from_row);
    c->weight = pick_rows(p->weight, 1, c->n, from_row);
    c->dq = pick_rows(p->dq, p->q, n_sets, from_set);
    c->dlogz = pick_rows(p->dlogz, 1, n_sets, from_set);
    return c;
}

problem *problem_of_set(const problem *p, int64_t b)
{
    int64_t n = p->offsets[b + 1] - p->offsets[b];
    int64_t *rows = malloc(((size_t)n + 1) * sizeof *rows);
    TEST_ASSERT_NOT_NULL(rows);
    for (int64_t i = 0; i < n; i++)
        rows[i] = p->offsets[b] + i;
    problem *c = problem_pick(p, 1, &b, (const int64_t[]){0, n}, rows);
    free(rows);
    return c;
}

double rounding(const problem *p, int precision)
{
    double growth = p->k > 1 ? 1 + (double)p->d / 500 : 1;
    return growth * (precision == 64 ? 1e-12 : 4e-6);
}

void check_posterior(const problem *p, const double *want, const double *got, double tol)
{
    int64_t kd = p->k * p->d;
    for (int64_t b = 0; b < p->n_sets; b++) {
        const double *x = want + b * p->q, *y = got + b * p->q;
        check_all_close(kd, x, y, tol, tol, describe(p, "mean"), __LINE__);
        check_all_close(kd, x + kd, y + kd, tol, 0, describe(p, "var"), __LINE__);
        check_all_close(p->q - 2 * kd, x + 2 * kd, y + 2 * kd, tol, tol, describe(p, "logw"),
                        __LINE__);
    }
}

void check_logz(const problem *p, const double *want, const double *got, double tol)
{
    for (int64_t b = 0; b < p->n_sets; b++)
        check_close(want[b], got[b], tol, tol, describe(p, "logz"), __LINE__);
}
