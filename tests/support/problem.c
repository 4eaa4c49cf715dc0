#include "problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* The problem's arrays in the precision of a run: double, or float copies. */
typedef struct {
    int precision;
    void *params, *m, *v, *weight, *dq, *dlogz;
    void *q, *logz, *dparams, *dm, *dv, *dweight, *w;
} native;

static uint64_t rng_next(test_rng *rng)
{
    uint64_t x = rng->state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

double rng_uniform(test_rng *rng, double lo, double hi)
{
    return lo + (hi - lo) * (double)(rng_next(rng) >> 11) * 0x1p-53;
}

double rng_normal(test_rng *rng)
{
    double radius = sqrt(-2 * log(1 - rng_uniform(rng, 0, 1)));
    return radius * cos(2 * 3.14159265358979323846 * rng_uniform(rng, 0, 1));
}

int64_t rng_int(test_rng *rng, int64_t lo, int64_t hi)
{
    return lo + (int64_t)(rng_next(rng) % (uint64_t)(hi - lo + 1));
}

static double rng_log_uniform(test_rng *rng, double lo, double hi)
{
    return exp(rng_uniform(rng, log(lo), log(hi)));
}

static void *zeros(int64_t n, size_t size)
{
    void *x = calloc(n > 0 ? (size_t)n : 1, size);
    TEST_ASSERT_NOT_NULL(x);
    return x;
}

static double *doubles(int64_t n)
{
    return zeros(n, sizeof(double));
}

static void *copy_of(const void *x, int64_t n, size_t size)
{
    if (!x)
        return NULL;
    void *y = zeros(n, size);
    memcpy(y, x, (size_t)n * size);
    return y;
}

static double *normals(test_rng *rng, int64_t n)
{
    double *x = doubles(n);
    for (int64_t i = 0; i < n; i++)
        x[i] = rng_normal(rng);
    return x;
}

static int64_t count_params(const problem *p)
{
    if (p->kind == STUDENT)
        return 2 + p->robust;
    return 2 * p->k * p->d + (p->kind == MIXTURE ? p->k : 0) + p->robust;
}

static int64_t count_posterior(const problem *p)
{
    return 2 * p->k * p->d + (p->kind == MIXTURE ? p->k : 0);
}

static double *draw_params(test_rng *rng, const problem *p)
{
    int64_t kd = p->k * p->d, hyper = p->robust + (p->kind == STUDENT ? 2 : 0);
    double *params = normals(rng, p->p);
    if (p->kind != STUDENT)
        for (int64_t j = kd; j < 2 * kd; j++)
            params[j] = rng_uniform(rng, -1, 1);
    for (int64_t j = p->p - hyper; j < p->p; j++)
        params[j] = log(rng_log_uniform(rng, 0.5, 5));
    return params;
}

static void draw_rows(test_rng *rng, problem *p)
{
    p->m = normals(rng, p->n * p->d);
    p->v = doubles(p->n * p->d);
    for (int64_t j = 0; j < p->n * p->d; j++)
        p->v[j] = rng_log_uniform(rng, 0.2, 2);
}

static void draw_weights(test_rng *rng, problem *p)
{
    p->weight = doubles(p->n);
    for (int64_t i = 0; i < p->n; i++) {
        p->weight[i] = i % 4 == 1 ? 0 : rng_uniform(rng, 0.5, 2);
        for (int64_t j = 0; i % 4 == 1 && j < p->d; j++)
            p->m[i * p->d + j] = p->v[i * p->d + j] = NAN;
    }
}

problem *problem_create(test_rng *rng, prior_kind kind, int robust, int64_t d, int64_t k,
                        int64_t n_sets, const int64_t *sizes, int with_weight)
{
    problem *p = zeros(1, sizeof *p);
    p->kind = kind;
    p->robust = robust;
    p->d = d;
    p->k = kind == MIXTURE ? k : 1;
    p->n_sets = n_sets;
    p->max_iters = 5;
    p->p = count_params(p);
    p->q = count_posterior(p);
    p->offsets = zeros(n_sets + 1, sizeof *p->offsets);
    for (int64_t b = 0; b < n_sets; b++)
        p->offsets[b + 1] = p->offsets[b] + sizes[b];
    p->n = p->offsets[n_sets];
    p->params = draw_params(rng, p);
    draw_rows(rng, p);
    if (with_weight)
        draw_weights(rng, p);
    p->dq = normals(rng, n_sets * p->q);
    p->dlogz = normals(rng, n_sets);
    return p;
}

problem *problem_copy(const problem *p)
{
    problem *c = copy_of(p, 1, sizeof *p);
    c->offsets = copy_of(p->offsets, p->n_sets + 1, sizeof *p->offsets);
    c->params = copy_of(p->params, p->p, sizeof(double));
    c->m = copy_of(p->m, p->n * p->d, sizeof(double));
    c->v = copy_of(p->v, p->n * p->d, sizeof(double));
    c->weight = copy_of(p->weight, p->n, sizeof(double));
    c->dq = copy_of(p->dq, p->n_sets * p->q, sizeof(double));
    c->dlogz = copy_of(p->dlogz, p->n_sets, sizeof(double));
    return c;
}

static void round_to_float(int64_t n, double *x)
{
    for (int64_t i = 0; x && i < n; i++)
        x[i] = (double)(float)x[i];
}

void problem_round(problem *p)
{
    round_to_float(p->p, p->params);
    round_to_float(p->n * p->d, p->m);
    round_to_float(p->n * p->d, p->v);
    round_to_float(p->n, p->weight);
    round_to_float(p->n_sets * p->q, p->dq);
    round_to_float(p->n_sets, p->dlogz);
}

void problem_destroy(problem *p)
{
    if (!p)
        return;
    free(p->offsets);
    free(p->params);
    free(p->m);
    free(p->v);
    free(p->weight);
    free(p->dq);
    free(p->dlogz);
    free(p);
}

static npagg_status create_prior(npagg_ctx *ctx, const problem *p, npagg_prior **out)
{
    if (p->kind == GAUSSIAN)
        return npagg_prior_create_gaussian(ctx, p->d, out);
    if (p->kind == MIXTURE)
        return npagg_prior_create_mixture(ctx, p->d, p->k, out);
    return npagg_prior_create_student(ctx, p->d, out);
}

npagg_prior *problem_prior(npagg_ctx *ctx, const problem *p)
{
    npagg_prior *prior = NULL;
    ASSERT_OK(ctx, create_prior(ctx, p, &prior));
    ASSERT_OK(ctx, npagg_prior_set_robust(prior, p->robust));
    TEST_ASSERT_EQUAL_INT64(p->p, npagg_prior_param_count(prior));
    TEST_ASSERT_EQUAL_INT64(p->q, npagg_prior_posterior_count(prior));
    return prior;
}

npagg_vmp *problem_vmp(npagg_ctx *ctx, const problem *p)
{
    npagg_vmp *vmp = NULL;
    ASSERT_OK(ctx, npagg_vmp_create(ctx, &vmp));
    ASSERT_OK(ctx, npagg_vmp_set_max_iters(vmp, p->max_iters));
    ASSERT_OK(ctx, npagg_vmp_set_tolerance(vmp, p->tol));
    ASSERT_OK(ctx, npagg_vmp_set_grad(vmp, p->grad));
    return vmp;
}

/* A copy of x [n] in the run's precision; NULL stays NULL. */
static void *narrow(int precision, int64_t n, const double *x)
{
    if (!x || precision == 64)
        return copy_of(x, n, sizeof(double));
    float *y = zeros(n, sizeof *y);
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)x[i];
    return y;
}

/* x [n] in the run's precision as double; frees x, NULL stays NULL. */
static double *widen(int precision, int64_t n, void *x)
{
    if (!x || precision == 64)
        return x;
    const float *narrowed = x;
    double *y = doubles(n);
    for (int64_t i = 0; i < n; i++)
        y[i] = narrowed[i];
    free(x);
    return y;
}

/* Room for a result that is wholly written: NaN shows what was not. */
static void *poisoned(int precision, int64_t n)
{
    double *nans = doubles(n);
    for (int64_t i = 0; i < n; i++)
        nans[i] = NAN;
    void *x = narrow(precision, n, nans);
    free(nans);
    return x;
}

static native native_create(const problem *p, int precision, int want_logz)
{
    int64_t nd = p->n * p->d;
    size_t size = (size_t)precision / 8;
    return (native){
        .precision = precision,
        .params = narrow(precision, p->p, p->params),
        .m = narrow(precision, nd, p->m),
        .v = narrow(precision, nd, p->v),
        .weight = narrow(precision, p->n, p->weight),
        .dq = narrow(precision, p->n_sets * p->q, p->dq),
        .dlogz = narrow(precision, p->n_sets, p->dlogz),
        .q = poisoned(precision, p->n_sets * p->q),
        .logz = p->dlogz || want_logz ? poisoned(precision, p->n_sets) : NULL,
        .dparams = zeros(p->p, size),
        .dm = zeros(nd, size),
        .dv = zeros(nd, size),
        .dweight = p->weight ? zeros(p->n, size) : NULL,
        .w = poisoned(precision, p->n),
    };
}

static void free_inputs(native *a)
{
    free(a->params);
    free(a->m);
    free(a->v);
    free(a->weight);
    free(a->dq);
    free(a->dlogz);
}

static npagg_status forward(npagg_ctx *ctx, const npagg_prior *prior, const npagg_vmp *vmp,
                            const problem *p, const native *a, npagg_cache *cache)
{
    if (a->precision == 32)
        return npagg_infer_forward_f32(ctx, prior, vmp, a->params, p->n_sets, p->offsets, a->m,
                                       a->v, a->weight, a->q, a->logz, cache);
    return npagg_infer_forward_f64(ctx, prior, vmp, a->params, p->n_sets, p->offsets, a->m, a->v,
                                   a->weight, a->q, a->logz, cache);
}

static npagg_status backward(npagg_ctx *ctx, const npagg_prior *prior, const npagg_vmp *vmp,
                             const problem *p, const native *a, npagg_cache *cache)
{
    if (a->precision == 32)
        return npagg_infer_backward_f32(ctx, prior, vmp, a->params, p->n_sets, p->offsets, a->m,
                                        a->v, a->weight, a->dq, a->dlogz, a->dparams, a->dm, a->dv,
                                        a->dweight, cache);
    return npagg_infer_backward_f64(ctx, prior, vmp, a->params, p->n_sets, p->offsets, a->m, a->v,
                                    a->weight, a->dq, a->dlogz, a->dparams, a->dm, a->dv,
                                    a->dweight, cache);
}

static npagg_status weights(npagg_ctx *ctx, const npagg_cache *cache, const native *a)
{
    if (a->precision == 32)
        return npagg_infer_weights_f32(ctx, cache, a->w);
    return npagg_infer_weights_f64(ctx, cache, a->w);
}

static result *result_create(const problem *p, native *a)
{
    result *r = zeros(1, sizeof *r);
    r->q = widen(a->precision, p->n_sets * p->q, a->q);
    r->logz = widen(a->precision, p->n_sets, a->logz);
    r->dparams = widen(a->precision, p->p, a->dparams);
    r->dm = widen(a->precision, p->n * p->d, a->dm);
    r->dv = widen(a->precision, p->n * p->d, a->dv);
    r->dweight = widen(a->precision, p->n, a->dweight);
    r->w = widen(a->precision, p->n, a->w);
    r->residual = doubles(p->n_sets);
    r->iters = zeros(p->n_sets, sizeof *r->iters);
    r->grad_iters = zeros(p->n_sets, sizeof *r->grad_iters);
    return r;
}

static void read_cache(npagg_ctx *ctx, const npagg_cache *cache, const problem *p, result *r)
{
    ASSERT_OK(ctx, npagg_infer_iters(ctx, cache, r->iters));
    ASSERT_OK(ctx, npagg_infer_residual(ctx, cache, r->residual));
    if (p->grad == NPAGG_GRAD_IMPLICIT && (p->dq || p->dlogz))
        ASSERT_OK(ctx, npagg_infer_grad_iters(ctx, cache, r->grad_iters));
    r->cache_bytes = npagg_cache_bytes(cache);
}

result *problem_run(npagg_ctx *ctx, const problem *p, int precision, int want_logz)
{
    npagg_prior *prior = problem_prior(ctx, p);
    npagg_vmp *vmp = problem_vmp(ctx, p);
    npagg_cache *cache = NULL;
    native a = native_create(p, precision, want_logz);
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    ASSERT_OK(ctx, forward(ctx, prior, vmp, p, &a, cache));
    if (p->dq || p->dlogz)
        ASSERT_OK(ctx, backward(ctx, prior, vmp, p, &a, cache));
    ASSERT_OK(ctx, weights(ctx, cache, &a));
    free_inputs(&a);
    result *r = result_create(p, &a);
    read_cache(ctx, cache, p, r);
    npagg_cache_destroy(cache);
    npagg_vmp_destroy(vmp);
    npagg_prior_destroy(prior);
    return r;
}

void result_destroy(result *r)
{
    if (!r)
        return;
    free(r->q);
    free(r->logz);
    free(r->dparams);
    free(r->dm);
    free(r->dv);
    free(r->dweight);
    free(r->w);
    free(r->residual);
    free(r->iters);
    free(r->grad_iters);
    free(r);
}

double problem_loss(npagg_ctx *ctx, const problem *p)
{
    npagg_prior *prior = problem_prior(ctx, p);
    npagg_vmp *vmp = problem_vmp(ctx, p);
    double *q = poisoned(64, p->n_sets * p->q), *logz = p->dlogz ? poisoned(64, p->n_sets) : NULL;
    ASSERT_OK(ctx, npagg_infer_forward_f64(ctx, prior, vmp, p->params, p->n_sets, p->offsets, p->m,
                                           p->v, p->weight, q, logz, NULL));
    long double loss = 0;
    for (int64_t j = 0; p->dq && j < p->n_sets * p->q; j++)
        loss += (long double)p->dq[j] * q[j];
    for (int64_t b = 0; p->dlogz && b < p->n_sets; b++)
        loss += (long double)p->dlogz[b] * logz[b];
    free(q);
    free(logz);
    npagg_vmp_destroy(vmp);
    npagg_prior_destroy(prior);
    return (double)loss;
}
