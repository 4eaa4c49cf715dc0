#include "inference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define POISON 0xA5

const flavour flavours[MODEL_FLAVOURS] = {
    {"gaussian", GAUSSIAN, 0, 1}, {"robust gaussian", GAUSSIAN, 1, 1},
    {"mixture", MIXTURE, 0, 3},   {"robust mixture", MIXTURE, 1, 3},
    {"hierarchy", STUDENT, 0, 1}, {"student", STUDENT, 1, 1},
    {"mean", OF_MEAN, 0, 1},      {"attention", OF_ATTENTION, 0, 1},
};

void problem_leave_fixed_point(problem *p)
{
    p->params[0] = p->params[1] = log(1e-6 * (double)p->d);
    p->params[2] = log(1e-2 * (double)p->d);
    p->max_iters = 2;
    for (int64_t i = 0; i < p->n * p->d; i++)
        p->m[i] *= 30;
}

static void *take(size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    TEST_ASSERT_NOT_NULL_MESSAGE(p, "the test itself is out of memory");
    return p;
}

double inference_get(const inference *f, const void *array, int64_t i)
{
    return f->precision == 32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

void inference_put(const inference *f, void *array, int64_t i, double x)
{
    if (f->precision == 32)
        ((float *)array)[i] = (float)x;
    else
        ((double *)array)[i] = x;
}

static void *copy_in(const inference *f, int64_t n, const double *from)
{
    if (!from)
        return NULL;
    void *to = take((size_t)n * f->real);
    for (int64_t i = 0; i < n; i++)
        inference_put(f, to, i, from[i]);
    return to;
}

static void lay_out_outputs(inference *f)
{
    const int64_t nd = f->n * f->d;
    const int64_t sizes[] = {f->n_sets * f->q, f->n_sets, f->n, nd, nd, f->n, f->p};
    void **arrays[] = {&f->post, &f->logz, &f->w, &f->dm, &f->dv, &f->dweight, &f->dparams};
    for (int i = 0; i < 7; i++)
        f->out_bytes += (size_t)sizes[i] * f->real;
    f->out = take(f->out_bytes);
    unsigned char *next = f->out;
    for (int i = 0; i < 7; i++) {
        *arrays[i] = next;
        next += (size_t)sizes[i] * f->real;
    }
}

inference *inference_create(npagg_ctx *ctx, const problem *p, int precision)
{
    inference *f = take(sizeof *f);
    f->precision = precision;
    f->real = precision == 32 ? sizeof(float) : sizeof(double);
    f->owns_shapes = 1;
    f->prior = problem_prior(ctx, p);
    f->vmp = problem_vmp(ctx, p);
    f->d = p->d, f->n_sets = p->n_sets, f->n = p->n, f->p = p->p, f->q = p->q;
    f->offsets = take((size_t)(p->n_sets + 1) * sizeof(int64_t));
    memcpy(f->offsets, p->offsets, (size_t)(p->n_sets + 1) * sizeof(int64_t));
    f->params = copy_in(f, p->p, p->params);
    f->m = copy_in(f, p->n * p->d, p->m);
    f->v = copy_in(f, p->n * p->d, p->v);
    f->weight = copy_in(f, p->n, p->weight);
    f->dq = copy_in(f, p->n_sets * p->q, p->dq);
    f->dlogz = copy_in(f, p->n_sets, p->dlogz);
    lay_out_outputs(f);
    return f;
}

/* Rows of `width` numbers, one run of rows per listed set, put one after the other. */
static void *pick_rows(const inference *whole, const void *from, int64_t n_sets,
                       const int64_t *which, int64_t width, int per_point)
{
    if (!from)
        return NULL;
    const size_t row = (size_t)width * whole->real;
    unsigned char *to = take((size_t)(per_point ? whole->n : whole->n_sets) * row * 2), *next = to;
    for (int64_t b = 0; b < n_sets; b++) {
        int64_t first = per_point ? whole->offsets[which[b]] : which[b];
        int64_t count = per_point ? whole->offsets[which[b] + 1] - first : 1;
        memcpy(next, (const unsigned char *)from + (size_t)first * row, (size_t)count * row);
        next += (size_t)count * row;
    }
    return to;
}

static void pick_offsets(inference *f, const inference *whole, const int64_t *which)
{
    f->offsets = take((size_t)(f->n_sets + 1) * sizeof(int64_t));
    for (int64_t b = 0; b < f->n_sets; b++)
        f->offsets[b + 1] = f->offsets[b] + whole->offsets[which[b] + 1] - whole->offsets[which[b]];
    f->n = f->offsets[f->n_sets];
}

inference *inference_pick(const inference *whole, int64_t n_sets, const int64_t *which)
{
    inference *f = take(sizeof *f);
    *f = *whole;
    f->owns_shapes = 0;
    f->n_sets = n_sets;
    f->out_bytes = 0;
    pick_offsets(f, whole, which);
    TEST_ASSERT_MESSAGE(f->n <= 2 * whole->n && n_sets <= 2 * whole->n_sets, "pick too large");
    f->params = take((size_t)f->p * f->real);
    memcpy(f->params, whole->params, (size_t)f->p * f->real);
    f->m = pick_rows(whole, whole->m, n_sets, which, f->d, 1);
    f->v = pick_rows(whole, whole->v, n_sets, which, f->d, 1);
    f->weight = pick_rows(whole, whole->weight, n_sets, which, 1, 1);
    f->dq = pick_rows(whole, whole->dq, n_sets, which, f->q, 0);
    f->dlogz = pick_rows(whole, whole->dlogz, n_sets, which, 1, 0);
    lay_out_outputs(f);
    return f;
}

void inference_destroy(inference *f)
{
    if (!f)
        return;
    void *arrays[] = {f->offsets, f->params, f->m, f->v, f->weight, f->dq, f->dlogz, f->out};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    if (f->owns_shapes) {
        npagg_prior_destroy(f->prior);
        npagg_vmp_destroy(f->vmp);
    }
    free(f);
}

npagg_status inference_forward(npagg_ctx *ctx, const inference *f, npagg_cache *cache)
{
    if (f->precision == 32)
        return npagg_infer_forward_f32(ctx, f->prior, f->vmp, f->params, f->n_sets, f->offsets,
                                       f->m, f->v, f->weight, f->post, f->logz, cache);
    return npagg_infer_forward_f64(ctx, f->prior, f->vmp, f->params, f->n_sets, f->offsets, f->m,
                                   f->v, f->weight, f->post, f->logz, cache);
}

npagg_status inference_weights(npagg_ctx *ctx, const inference *f, const npagg_cache *cache)
{
    return f->precision == 32 ? npagg_infer_weights_f32(ctx, cache, f->w)
                              : npagg_infer_weights_f64(ctx, cache, f->w);
}

npagg_status inference_backward(npagg_ctx *ctx, const inference *f, npagg_cache *cache)
{
    if (f->precision == 32)
        return npagg_infer_backward_f32(ctx, f->prior, f->vmp, f->params, f->n_sets, f->offsets,
                                        f->m, f->v, f->weight, f->dq, f->dlogz, f->dparams, f->dm,
                                        f->dv, f->dweight, cache);
    return npagg_infer_backward_f64(ctx, f->prior, f->vmp, f->params, f->n_sets, f->offsets, f->m,
                                    f->v, f->weight, f->dq, f->dlogz, f->dparams, f->dm, f->dv,
                                    f->dweight, cache);
}

void inference_run(npagg_ctx *ctx, const inference *f, npagg_cache *cache)
{
    memset(f->out, 0, f->out_bytes);
    ASSERT_OK(ctx, inference_forward(ctx, f, cache));
    ASSERT_OK(ctx, inference_weights(ctx, f, cache));
    ASSERT_OK(ctx, inference_backward(ctx, f, cache));
}

void inference_run_once(npagg_ctx *ctx, const inference *f)
{
    npagg_cache *cache = NULL;
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    inference_run(ctx, f, cache);
    npagg_cache_destroy(cache);
}

void inference_poison(const inference *f)
{
    memset(f->out, POISON, f->out_bytes);
}

void inference_check_poison(const inference *f, int line)
{
    for (size_t i = 0; i < f->out_bytes; i++)
        if (f->out[i] != POISON)
            UNITY_TEST_FAIL((UNITY_LINE_TYPE)line, "an output was written");
}

void inference_check_same(const inference *want, const inference *got, int line)
{
    UNITY_TEST_ASSERT(want->out_bytes == got->out_bytes, (UNITY_LINE_TYPE)line, "other shapes");
    const size_t real = want->real, nd = (size_t)(want->n * want->d) * real;
    check_same_bits((int64_t)((size_t)(want->n_sets * want->q) * real), want->post, got->post, "q",
                    line);
    check_same_bits((int64_t)((size_t)want->n_sets * real), want->logz, got->logz, "logz", line);
    check_same_bits((int64_t)((size_t)want->n * real), want->w, got->w, "weights", line);
    check_same_bits((int64_t)nd, want->dm, got->dm, "dm", line);
    check_same_bits((int64_t)nd, want->dv, got->dv, "dv", line);
    check_same_bits((int64_t)((size_t)want->n * real), want->dweight, got->dweight, "dweight",
                    line);
    check_same_bits((int64_t)((size_t)want->p * real), want->dparams, got->dparams, "dparams",
                    line);
}

/* `rows` rows of `width` numbers, from row i of a and row j of b on. */
static void check_rows(const inference *f, int64_t rows, int64_t width, const void *a, int64_t i,
                       const void *b, int64_t j, const char *what, int line)
{
    const size_t row = (size_t)width * f->real;
    check_same_bits((int64_t)((size_t)rows * row), (const unsigned char *)a + (size_t)i * row,
                    (const unsigned char *)b + (size_t)j * row, what, line);
}

void inference_check_same_set(const inference *want, int64_t a, const inference *got, int64_t b,
                              int line)
{
    const int64_t i = want->offsets[a], j = got->offsets[b], n = want->offsets[a + 1] - i;
    check_rows(want, 1, want->q, want->post, a, got->post, b, "q", line);
    check_rows(want, 1, 1, want->logz, a, got->logz, b, "logz", line);
    check_rows(want, n, 1, want->w, i, got->w, j, "weights", line);
    check_rows(want, n, want->d, want->dm, i, got->dm, j, "dm", line);
    check_rows(want, n, want->d, want->dv, i, got->dv, j, "dv", line);
    check_rows(want, n, 1, want->dweight, i, got->dweight, j, "dweight", line);
}
