#include "encoder_case.h"
#include "plain_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static npagg_status create_encoder(npagg_ctx *ctx, const encoder_shape *s, npagg_encoder **out)
{
    switch (s->kind) {
    case MEAN:
        return npagg_encoder_create_mean(ctx, s->x_dim, s->y_dim, s->d, s->n_hidden, s->widths,
                                         s->n_post, s->post_widths, out);
    case ATTENTION:
        return npagg_encoder_create_attention(ctx, s->x_dim, s->y_dim, s->d, s->n_hidden, s->widths,
                                              s->n_heads, s->n_post, s->post_widths, out);
    default:
        return npagg_encoder_create_mlp(ctx, s->x_dim, s->y_dim, s->d, s->n_hidden, s->widths, out);
    }
}

static void set_options(encoder_case *c, const encoder_shape *shape)
{
    c->lo = shape->hi > 0 ? shape->lo : shape->kind == POINTS ? 1e-4 : 1e-8;
    c->hi = shape->hi > 0 ? shape->hi : 1;
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_encoder_set_activation(c->encoder, shape->activation));
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_encoder_set_trunk(c->encoder, shape->trunk));
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
    c->dm = normals_of(&rng, c->n_out * c->d);
    c->dv = normals_of(&rng, c->n_out * c->d);
    round_numbers(c->p, c->params);
    round_numbers(c->n * c->x_dim, c->x);
    round_numbers(c->n * c->y_dim, c->y);
    round_numbers(c->n_out * c->d, c->dm);
    round_numbers(c->n_out * c->d, c->dv);
}

encoder_case *encoder_case_create(npagg_ctx *ctx, const encoder_shape *shape, int64_t n_sets,
                                  const int64_t *sizes, uint64_t seed)
{
    encoder_case *c = calloc(1, sizeof *c);
    TEST_ASSERT_NOT_NULL(c);
    c->shape = shape;
    c->x_dim = shape->x_dim;
    c->y_dim = shape->y_dim;
    c->d = shape->d;
    c->n_sets = n_sets;
    c->offsets = offsets_of(n_sets, sizes);
    c->n = c->offsets[n_sets];
    c->n_out = shape->kind == POINTS ? c->n : n_sets;
    ASSERT_OK(ctx, create_encoder(ctx, shape, &c->encoder));
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
    const int64_t out = (c->shape->kind == POINTS ? first : b) * c->d;
    one->n_out = c->shape->kind == POINTS ? n : 1;
    one->dm = copy_of_numbers(one->n_out * c->d, c->dm + out);
    one->dv = copy_of_numbers(one->n_out * c->d, c->dv + out);
    return one;
}

static encoder_result *create_result(const encoder_case *c)
{
    encoder_result *r = calloc(1, sizeof *r);
    TEST_ASSERT_NOT_NULL(r);
    r->m = zeros_of(c->n_out * c->d);
    r->v = zeros_of(c->n_out * c->d);
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
    const int64_t nd = c->n_out * c->d;
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
    const int64_t nd = c->n_out * c->d, nx = c->n * c->x_dim, ny = c->n * c->y_dim;
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
    const encoder_shape *shape = c->shape;
    const double *params = c->params, *base = in;
    int64_t width[6] = {c->x_dim + c->y_dim}, layers = shape->n_hidden;
    for (int64_t l = 0; l < layers; l++)
        width[l + 1] = shape->widths[l];
    double *hidden = zeros_of(width[layers]);
    if (shape->trunk) {
        plain_mlp(&params, layers, width, shape->activation, 1, in, hidden);
        base = hidden;
        width[0] = width[layers];
        layers = 0;
    }
    width[layers + 1] = c->d;
    plain_mlp(&params, layers + 1, width, shape->activation, 0, base, m);
    plain_mlp(&params, layers + 1, width, shape->activation, 0, base, v);
    for (int64_t j = 0; j < c->d; j++)
        v[j] = c->lo + (c->hi - c->lo) / (1 + exp(-v[j]));
    free(hidden);
}

encoder_result *encoder_run_plain(const encoder_case *c)
{
    encoder_result *r = create_result(c);
    double *in = zeros_of(c->x_dim + c->y_dim);
    for (int64_t i = 0; i < c->n && c->shape->kind == POINTS; i++) {
        memcpy(in, c->x + i * c->x_dim, (size_t)c->x_dim * sizeof *in);
        memcpy(in + c->x_dim, c->y + i * c->y_dim, (size_t)c->y_dim * sizeof *in);
        plain_point(c, in, r->m + i * c->d, r->v + i * c->d);
    }
    for (int64_t b = 0; b < c->n_sets && c->shape->kind != POINTS; b++)
        plain_set(c, b, r->m + b * c->d, r->v + b * c->d);
    free(in);
    return r;
}

double encoder_loss(npagg_ctx *ctx, const encoder_case *c)
{
    double sum = 0;
    encoder_result *r = encoder_run_forward(ctx, c, 64);
    for (int64_t i = 0; i < c->n_out * c->d; i++)
        sum += (c->dm ? c->dm[i] * r->m[i] : 0) + (c->dv ? c->dv[i] * r->v[i] : 0);
    encoder_result_destroy(r);
    return sum;
}

void encoder_check_direction(npagg_ctx *ctx, const encoder_case *c, int64_t n, double *x,
                             const double *dx)
{
    test_rng rng = {3};
    double want = 0, *direction = normals_of(&rng, n), at[2];
    for (int64_t i = 0; i < n; i++)
        want += direction[i] * dx[i];
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < n; i++)
            x[i] += (side ? -2 : 1) * 1e-5 * direction[i];
        at[side] = encoder_loss(ctx, c);
    }
    for (int64_t i = 0; i < n; i++)
        x[i] += 1e-5 * direction[i];
    ASSERT_CLOSE(want, (at[0] - at[1]) / 2e-5, 1e-7, 0);
    free(direction);
}
