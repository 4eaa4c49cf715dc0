#include "decoder_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t z_count(const decoder_case *c)
{
    return c->n_sets * c->n_samples * c->d;
}

static int64_t py_count(const decoder_case *c)
{
    return c->n * c->n_samples * c->outputs;
}

static void set_options(decoder_case *c, const decoder_shape *shape)
{
    c->activation = shape->activation;
    c->likelihood = shape->likelihood;
    c->floor = shape->floor < 0 ? 0.1 : shape->floor;
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_decoder_set_activation(c->decoder, c->activation));
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_decoder_set_likelihood(c->decoder, c->likelihood));
    if (shape->floor >= 0)
        TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_decoder_set_sd_floor(c->decoder, c->floor));
}

static void draw_arrays(npagg_ctx *ctx, decoder_case *c, uint64_t seed)
{
    test_rng rng = {seed};
    c->p = npagg_decoder_param_count(c->decoder);
    c->outputs = npagg_decoder_output_count(c->decoder);
    c->params = zeros_of(c->p);
    ASSERT_OK(ctx, npagg_decoder_init_params_f64(ctx, c->decoder, seed, c->params));
    for (int64_t i = 0; i < c->p; i++)
        c->params[i] *= 2;
    c->x = normals_of(&rng, c->n * c->x_dim);
    c->z = normals_of(&rng, z_count(c));
    c->dpy = normals_of(&rng, py_count(c));
    round_numbers(c->p, c->params);
    round_numbers(c->n * c->x_dim, c->x);
    round_numbers(z_count(c), c->z);
    round_numbers(py_count(c), c->dpy);
}

decoder_case *decoder_case_create(npagg_ctx *ctx, const decoder_shape *shape, int64_t n_sets,
                                  const int64_t *sizes, uint64_t seed)
{
    decoder_case *c = calloc(1, sizeof *c);
    TEST_ASSERT_NOT_NULL(c);
    c->x_dim = shape->x_dim;
    c->y_dim = shape->y_dim;
    c->d = shape->d;
    c->n_hidden = shape->n_hidden;
    c->widths = shape->widths;
    c->n_samples = shape->n_samples;
    c->n_sets = n_sets;
    c->offsets = offsets_of(n_sets, sizes);
    c->n = c->offsets[n_sets];
    ASSERT_OK(ctx, npagg_decoder_create_mlp(ctx, c->x_dim, c->y_dim, c->d, c->n_hidden, c->widths,
                                            &c->decoder));
    set_options(c, shape);
    draw_arrays(ctx, c, seed);
    return c;
}

void decoder_case_end_pick(decoder_case *one)
{
    free(one->offsets);
    free(one->params);
    free(one->x);
    free(one->z);
    free(one->dpy);
    free(one);
}

void decoder_case_destroy(decoder_case *c)
{
    npagg_decoder_destroy(c->decoder);
    decoder_case_end_pick(c);
}

decoder_case *decoder_case_pick(const decoder_case *c, int64_t b)
{
    const int64_t first = c->offsets[b], n = c->offsets[b + 1] - first;
    const int64_t rows = c->n_samples * c->outputs;
    decoder_case *one = calloc(1, sizeof *one);
    TEST_ASSERT_NOT_NULL(one);
    *one = *c;
    one->n_sets = 1;
    one->n = n;
    one->offsets = offsets_of(1, &n);
    one->params = copy_of_numbers(c->p, c->params);
    one->x = copy_of_numbers(n * c->x_dim, c->x + first * c->x_dim);
    one->z = copy_of_numbers(c->n_samples * c->d, c->z + b * c->n_samples * c->d);
    one->dpy = copy_of_numbers(n * rows, c->dpy + first * rows);
    return one;
}

static decoder_result *create_result(const decoder_case *c)
{
    decoder_result *r = calloc(1, sizeof *r);
    TEST_ASSERT_NOT_NULL(r);
    r->py = zeros_of(py_count(c));
    r->dparams = zeros_of(c->p);
    r->dx = zeros_of(c->n * c->x_dim);
    r->dz = zeros_of(z_count(c));
    return r;
}

void decoder_result_destroy(decoder_result *r)
{
    free(r->py);
    free(r->dparams);
    free(r->dx);
    free(r->dz);
    free(r);
}

static void forward(npagg_ctx *ctx, const decoder_case *c, int precision, const void *params,
                    const void *x, const void *z, decoder_result *r, npagg_cache *cache)
{
    void *py = native_create(precision, py_count(c), r->py);
    if (precision == 32)
        ASSERT_OK(ctx, npagg_decoder_forward_f32(ctx, c->decoder, params, c->n_sets, c->offsets,
                                                 c->n_samples, x, z, py, cache));
    else
        ASSERT_OK(ctx, npagg_decoder_forward_f64(ctx, c->decoder, params, c->n_sets, c->offsets,
                                                 c->n_samples, x, z, py, cache));
    native_take(precision, py_count(c), py, r->py);
}

static void backward(npagg_ctx *ctx, const decoder_case *c, int precision, const void *params,
                     const void *x, const void *z, decoder_result *r, npagg_cache *cache)
{
    const int64_t nx = c->n * c->x_dim;
    void *dpy = native_create(precision, py_count(c), c->dpy);
    void *dp = native_create(precision, c->p, r->dparams);
    void *dx = native_create(precision, nx, r->dx);
    void *dz = native_create(precision, z_count(c), r->dz);
    if (precision == 32)
        ASSERT_OK(ctx, npagg_decoder_backward_f32(ctx, c->decoder, params, c->n_sets, c->offsets,
                                                  c->n_samples, x, z, dpy, dp, dx, dz, cache));
    else
        ASSERT_OK(ctx, npagg_decoder_backward_f64(ctx, c->decoder, params, c->n_sets, c->offsets,
                                                  c->n_samples, x, z, dpy, dp, dx, dz, cache));
    free(dpy);
    native_take(precision, c->p, dp, r->dparams);
    native_take(precision, nx, dx, r->dx);
    native_take(precision, z_count(c), dz, r->dz);
}

static decoder_result *run(npagg_ctx *ctx, const decoder_case *c, int precision, npagg_cache *cache)
{
    decoder_result *r = create_result(c);
    void *params = native_create(precision, c->p, c->params);
    void *x = native_create(precision, c->n * c->x_dim, c->x);
    void *z = native_create(precision, z_count(c), c->z);
    forward(ctx, c, precision, params, x, z, r, cache);
    if (cache)
        backward(ctx, c, precision, params, x, z, r, cache);
    free(params);
    free(x);
    free(z);
    return r;
}

decoder_result *decoder_run(npagg_ctx *ctx, const decoder_case *c, int precision,
                            npagg_cache *cache)
{
    npagg_cache *own = NULL;
    if (!cache)
        ASSERT_OK(ctx, npagg_cache_create(ctx, &own));
    decoder_result *r = run(ctx, c, precision, cache ? cache : own);
    npagg_cache_destroy(own);
    return r;
}

decoder_result *decoder_run_forward(npagg_ctx *ctx, const decoder_case *c, int precision)
{
    return run(ctx, c, precision, NULL);
}

/* [z; x] -> py of one row. */
static void plain_row(const decoder_case *c, const double *in, double *py)
{
    const double *params = c->params;
    int64_t width[6] = {c->d + c->x_dim};
    for (int64_t l = 0; l < c->n_hidden; l++)
        width[l + 1] = c->widths[l];
    width[c->n_hidden + 1] = c->y_dim;
    plain_mlp(&params, c->n_hidden + 1, width, c->activation, 0, in, py);
    if (c->likelihood == NPAGG_LIKELIHOOD_BERNOULLI)
        return;
    double *sd = py + c->y_dim;
    plain_mlp(&params, c->n_hidden + 1, width, c->activation, 0, in, sd);
    for (int64_t j = 0; j < c->y_dim; j++)
        sd[j] = c->floor + (1 - c->floor) * plain_activation(NPAGG_ACTIVATION_SOFTPLUS, sd[j]);
}

decoder_result *decoder_run_plain(const decoder_case *c)
{
    decoder_result *r = create_result(c);
    double *in = zeros_of(c->d + c->x_dim);
    for (int64_t b = 0; b < c->n_sets; b++)
        for (int64_t i = c->offsets[b]; i < c->offsets[b + 1]; i++)
            for (int64_t s = 0; s < c->n_samples; s++) {
                memcpy(in, c->z + (b * c->n_samples + s) * c->d, (size_t)c->d * sizeof *in);
                memcpy(in + c->d, c->x + i * c->x_dim, (size_t)c->x_dim * sizeof *in);
                plain_row(c, in, r->py + (i * c->n_samples + s) * c->outputs);
            }
    free(in);
    return r;
}

double decoder_loss(npagg_ctx *ctx, const decoder_case *c)
{
    double sum = 0;
    decoder_result *r = decoder_run_forward(ctx, c, 64);
    for (int64_t i = 0; i < py_count(c); i++)
        sum += c->dpy[i] * r->py[i];
    decoder_result_destroy(r);
    return sum;
}
