#include "encoder_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set_options(encoder_case *c, const encoder_shape *shape)
{
    c->activation = shape->activation;
    c->trunk = shape->trunk;
    c->lo = shape->hi > 0 ? shape->lo : 1e-4;
    c->hi = shape->hi > 0 ? shape->hi : 1;
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_encoder_set_activation(c->encoder, c->activation));
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_encoder_set_trunk(c->encoder, c->trunk));
    if (shape->hi > 0)
        TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_encoder_set_var_range(c->encoder, c->lo, c->hi));
}

static void draw_arrays(npagg_ctx *ctx, encoder_case *c, uint64_t seed)
{
    test_rng rng = {seed};
    c->p = npagg_encoder_param_count(c->encoder);
    c->params = zeros_of(c->p);
    ASSERT_OK(ctx, npagg_encoder_init_params_f64(ctx, c->encoder, seed, c->params));
    for (int64_t i = 0; i < c->p; i++)
        c->params[i] *= 2;
    c->x = normals_of(&rng, c->n * c->x_dim);
    c->y = normals_of(&rng, c->n * c->y_dim);
    c->dm = normals_of(&rng, c->n * c->d);
    c->dv = normals_of(&rng, c->n * c->d);
    round_numbers(c->p, c->params);
    round_numbers(c->n * c->x_dim, c->x);
    round_numbers(c->n * c->y_dim, c->y);
    round_numbers(c->n * c->d, c->dm);
    round_numbers(c->n * c->d, c->dv);
}

encoder_case *encoder_case_create(npagg_ctx *ctx, const encoder_shape *shape, int64_t n_sets,
                                  const int64_t *sizes, uint64_t seed)
{
    encoder_case *c = calloc(1, sizeof *c);
    TEST_ASSERT_NOT_NULL(c);
    c->x_dim = shape->x_dim;
    c->y_dim = shape->y_dim;
    c->d = shape->d;
    c->n_hidden = shape->n_hidden;
    c->widths = shape->widths;
    c->n_sets = n_sets;
    c->offsets = offsets_of(n_sets, sizes);
    c->n = c->offsets[n_sets];
    ASSERT_OK(ctx, npagg_encoder_create_mlp(ctx, c->x_dim, c->y_dim, c->d, c->n_hidden, c->widths,
                                            &c->encoder));
    set_options(c, shape);
    draw_arrays(ctx, c, seed);
    return c;
}

void encoder_case_end_pick(encoder_case *c)
{
    free(c->offsets);
    free(c->params);
    free(c->x);
    free(c->y);
    free(c->dm);
    free(c->dv);
    free(c);
}

void encoder_case_destroy(encoder_case *c)
{
    npagg_encoder_destroy(c->encoder);
    encoder_case_end_pick(c);
}

encoder_case *encoder_case_pick(const encoder_case *c, int64_t b)
{
    const int64_t first = c->offsets[b], n = c->offsets[b + 1] - first;
    encoder_case *one = calloc(1, sizeof *one);
    TEST_ASSERT_NOT_NULL(one);
    *one = *c;
    one->n_sets = 1;
    one->n = n;
    one->offsets = offsets_of(1, &n);
    one->params = copy_of_numbers(c->p, c->params);
    one->x = copy_of_numbers(n * c->x_dim, c->x + first * c->x_dim);
    one->y = copy_of_numbers(n * c->y_dim, c->y + first * c->y_dim);
    one->dm = copy_of_numbers(n * c->d, c->dm + first * c->d);
    one->dv = copy_of_numbers(n * c->d, c->dv + first * c->d);
    return one;
}

static encoder_result *create_result(const encoder_case *c)
{
    encoder_result *r = calloc(1, sizeof *r);
    TEST_ASSERT_NOT_NULL(r);
    r->m = zeros_of(c->n * c->d);
    r->v = zeros_of(c->n * c->d);
    r->dparams = zeros_of(c->p);
    r->dx = zeros_of(c->n * c->x_dim);
    r->dy = zeros_of(c->n * c->y_dim);
    return r;
}

void encoder_result_destroy(encoder_result *r)
{
    free(r->m);
    free(r->v);
    free(r->dparams);
    free(r->dx);
    free(r->dy);
    free(r);
}

static void forward(npagg_ctx *ctx, const encoder_case *c, int precision, const void *params,
                    const void *x, const void *y, encoder_result *r, npagg_cache *cache)
{
    const int64_t nd = c->n * c->d;
    void *m = native_create(precision, nd, r->m), *v = native_create(precision, nd, r->v);
    if (precision == 32)
        ASSERT_OK(ctx, npagg_encoder_forward_f32(ctx, c->encoder, params, c->n_sets, c->offsets, x,
                                                 y, m, v, cache));
    else
        ASSERT_OK(ctx, npagg_encoder_forward_f64(ctx, c->encoder, params, c->n_sets, c->offsets, x,
                                                 y, m, v, cache));
    native_take(precision, nd, m, r->m);
    native_take(precision, nd, v, r->v);
}

static void backward(npagg_ctx *ctx, const encoder_case *c, int precision, const void *params,
                     const void *x, const void *y, encoder_result *r, npagg_cache *cache)
{
    const int64_t nd = c->n * c->d, nx = c->n * c->x_dim, ny = c->n * c->y_dim;
    void *dm = native_create(precision, nd, c->dm), *dv = native_create(precision, nd, c->dv);
    void *dp = native_create(precision, c->p, r->dparams);
    void *dx = native_create(precision, nx, r->dx), *dy = native_create(precision, ny, r->dy);
    if (precision == 32)
        ASSERT_OK(ctx, npagg_encoder_backward_f32(ctx, c->encoder, params, c->n_sets, c->offsets, x,
                                                  y, dm, dv, dp, dx, dy, cache));
    else
        ASSERT_OK(ctx, npagg_encoder_backward_f64(ctx, c->encoder, params, c->n_sets, c->offsets, x,
                                                  y, dm, dv, dp, dx, dy, cache));
    free(dm);
    free(dv);
    native_take(precision, c->p, dp, r->dparams);
    native_take(precision, nx, dx, r->dx);
    native_take(precision, ny, dy, r->dy);
}

static encoder_result *run(npagg_ctx *ctx, const encoder_case *c, int precision, npagg_cache *cache)
{
    encoder_result *r = create_result(c);
    void *params = native_create(precision, c->p, c->params);
    void *x = native_create(precision, c->n * c->x_dim, c->x);
    void *y = native_create(precision, c->n * c->y_dim, c->y);
    forward(ctx, c, precision, params, x, y, r, cache);
    if (cache)
        backward(ctx, c, precision, params, x, y, r, cache);
    free(params);
    free(x);
    free(y);
    return r;
}

encoder_result *encoder_run(npagg_ctx *ctx, const encoder_case *c, int precision,
                            npagg_cache *cache)
{
    npagg_cache *own = NULL;
    if (!cache)
        ASSERT_OK(ctx, npagg_cache_create(ctx, &own));
    encoder_result *r = run(ctx, c, precision, cache ? cache : own);
    npagg_cache_destroy(own);
    return r;
}

encoder_result *encoder_run_forward(npagg_ctx *ctx, const encoder_case *c, int precision)
{
    return run(ctx, c, precision, NULL);
}

static void plain_point(const encoder_case *c, const double *in, double *m, double *v)
{
    const double *params = c->params, *base = in;
    int64_t width[6] = {c->x_dim + c->y_dim}, layers = c->n_hidden;
    for (int64_t l = 0; l < layers; l++)
        width[l + 1] = c->widths[l];
    double *hidden = zeros_of(width[layers]);
    if (c->trunk) {
        plain_mlp(&params, layers, width, c->activation, 1, in, hidden);
        base = hidden;
        width[0] = width[layers];
        layers = 0;
    }
    width[layers + 1] = c->d;
    plain_mlp(&params, layers + 1, width, c->activation, 0, base, m);
    plain_mlp(&params, layers + 1, width, c->activation, 0, base, v);
    for (int64_t j = 0; j < c->d; j++)
        v[j] = c->lo + (c->hi - c->lo) / (1 + exp(-v[j]));
    free(hidden);
}

encoder_result *encoder_run_plain(const encoder_case *c)
{
    encoder_result *r = create_result(c);
    double *in = zeros_of(c->x_dim + c->y_dim);
    for (int64_t i = 0; i < c->n; i++) {
        memcpy(in, c->x + i * c->x_dim, (size_t)c->x_dim * sizeof *in);
        memcpy(in + c->x_dim, c->y + i * c->y_dim, (size_t)c->y_dim * sizeof *in);
        plain_point(c, in, r->m + i * c->d, r->v + i * c->d);
    }
    free(in);
    return r;
}

double encoder_loss(npagg_ctx *ctx, const encoder_case *c)
{
    double sum = 0;
    encoder_result *r = encoder_run_forward(ctx, c, 64);
    for (int64_t i = 0; i < c->n * c->d; i++)
        sum += (c->dm ? c->dm[i] * r->m[i] : 0) + (c->dv ? c->dv[i] * r->v[i] : 0);
    encoder_result_destroy(r);
    return sum;
}
