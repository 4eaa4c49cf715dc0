#include "difference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

const char *describe(const problem *p, const char *what)
{
    static const char *const kinds[] = {"gaussian", "mixture", "student"};
    static char text[200];
    snprintf(text, sizeof text,
             "%s K=%" PRId64 "%s D=%" PRId64 " B=%" PRId64 " N=%" PRId64 " T=%d%s%s%s: %s",
             kinds[p->kind], p->k, p->robust ? " robust" : "", p->d, p->n_sets, p->n,
             (int)p->max_iters, p->dq ? " dq" : "", p->dlogz ? " dlogz" : "",
             p->weight ? " weight" : "", what);
    return text;
}

void drop(double **array)
{
    free(*array);
    *array = NULL;
}

double loss_of_library(void *ctx, const problem *p)
{
    return problem_loss(ctx, p);
}

static double *take(int64_t n)
{
    double *x = calloc((size_t)n + 1, sizeof *x);
    TEST_ASSERT_NOT_NULL(x);
    return x;
}

/* x [n] is one of p's arrays; entries of weight 0, where weight is given, stay as they are. */
static double *differences(const problem *p, loss_fn loss, void *user, int64_t n, double *x,
                           const double *weight)
{
    const double h = 1e-5;
    double *slope = take(n);
    for (int64_t i = 0; i < n; i++) {
        double at = x[i];
        if (weight && weight[i] == 0)
            continue;
        x[i] = at + h;
        double above = loss(user, p);
        x[i] = at - h;
        slope[i] = (above - loss(user, p)) / (2 * h);
        x[i] = at;
    }
    return slope;
}

static void check_array(const problem *p, loss_fn loss, void *user, int64_t n, double *x,
                        const double *got, double tol, const char *what)
{
    double *want = differences(p, loss, user, n, x, x == p->weight ? p->weight : NULL);
    check_all_close(n, want, got, tol, 0, describe(p, what), __LINE__);
    free(want);
}

void check_gradient(const problem *p, const result *r, loss_fn loss, void *user, double tol)
{
    problem *c = problem_copy(p);
    check_array(c, loss, user, c->p, c->params, r->dparams, tol, "dparams");
    check_array(c, loss, user, c->n * c->d, c->m, r->dm, tol, "dm");
    check_array(c, loss, user, c->n * c->d, c->v, r->dv, tol, "dv");
    if (c->weight)
        check_array(c, loss, user, c->n, c->weight, r->dweight, tol, "dweight");
    problem_destroy(c);
}

/* A direction in the arrays of the problem. */
typedef struct {
    double *params, *m, *v, *weight;
} direction;

static direction draw_direction(test_rng *rng, const problem *p)
{
    int64_t nd = p->n * p->d;
    direction u = {take(p->p), take(nd), take(nd), take(p->n)};
    for (int64_t j = 0; j < p->p; j++)
        u.params[j] = rng_normal(rng);
    for (int64_t j = 0; j < nd; j++) {
        int masked = p->weight && p->weight[j / p->d] == 0;
        u.m[j] = masked ? 0 : rng_normal(rng);
        u.v[j] = masked ? 0 : rng_normal(rng) * p->v[j];
    }
    for (int64_t i = 0; p->weight && i < p->n; i++)
        u.weight[i] = p->weight[i] == 0 ? 0 : rng_normal(rng);
    return u;
}

static void free_direction(direction u)
{
    free(u.params);
    free(u.m);
    free(u.v);
    free(u.weight);
}

static void step(int64_t n, double *x, double h, const double *u)
{
    for (int64_t i = 0; x && i < n; i++)
        x[i] += h * u[i];
}

static double dot(int64_t n, const double *x, const double *u)
{
    double sum = 0;
    for (int64_t i = 0; x && i < n; i++)
        sum += x[i] * u[i];
    return sum;
}

static double loss_beside(const problem *p, const direction *u, int rows, double h, loss_fn loss,
                          void *user)
{
    problem *c = problem_copy(p);
    step(rows ? 0 : c->p, c->params, h, u->params);
    step(rows ? c->n * c->d : 0, c->m, h, u->m);
    step(rows ? c->n * c->d : 0, c->v, h, u->v);
    step(rows ? c->n : 0, c->weight, h, u->weight);
    double value = loss(user, c);
    problem_destroy(c);
    return value;
}

/* Four-point central difference: its error is of order h^4. */
static double slope_of(const problem *p, const direction *u, int rows, double h, loss_fn loss,
                       void *user)
{
    double near = loss_beside(p, u, rows, h, loss, user) - loss_beside(p, u, rows, -h, loss, user);
    double far =
        loss_beside(p, u, rows, 2 * h, loss, user) - loss_beside(p, u, rows, -2 * h, loss, user);
    return (8 * near - far) / (12 * h);
}

void check_directions(test_rng *rng, const problem *p, const result *r, loss_fn loss, void *user,
                      double h, double tol)
{
    direction u = draw_direction(rng, p);
    int64_t nd = p->n * p->d;
    double by_params = dot(p->p, r->dparams, u.params);
    double by_rows = dot(nd, r->dm, u.m) + dot(nd, r->dv, u.v) + dot(p->n, r->dweight, u.weight);
    check_close(slope_of(p, &u, 0, h, loss, user), by_params, tol, 0,
                describe(p, "slope by parameters"), __LINE__);
    check_close(slope_of(p, &u, 1, h, loss, user), by_rows, tol, 0, describe(p, "slope by rows"),
                __LINE__);
    free_direction(u);
}

void check_same_gradient(const problem *p, const result *want, const result *got, double tol)
{
    int64_t nd = p->n * p->d;
    check_all_close(p->p, want->dparams, got->dparams, tol, 0, describe(p, "dparams"), __LINE__);
    check_all_close(nd, want->dm, got->dm, tol, 0, describe(p, "dm"), __LINE__);
    check_all_close(nd, want->dv, got->dv, tol, 0, describe(p, "dv"), __LINE__);
    if (p->weight)
        check_all_close(p->n, want->dweight, got->dweight, tol, 0, describe(p, "dweight"),
                        __LINE__);
}

void check_same_gradient_bits(const problem *p, const result *want, const result *got)
{
    int64_t nd = p->n * p->d * 8;
    check_same_bits(p->p * 8, want->dparams, got->dparams, describe(p, "dparams"), __LINE__);
    check_same_bits(nd, want->dm, got->dm, describe(p, "dm"), __LINE__);
    check_same_bits(nd, want->dv, got->dv, describe(p, "dv"), __LINE__);
    if (p->weight)
        check_same_bits(p->n * 8, want->dweight, got->dweight, describe(p, "dweight"), __LINE__);
}
