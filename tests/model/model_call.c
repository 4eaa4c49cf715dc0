#include "model_call.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "numbers.h"

#define POISON 0xA5

model_spec spec_of(const flavour *prior, int32_t objective)
{
    const int iwae = objective == NPAGG_OBJECTIVE_IWAE;
    return (model_spec){
        .prior = prior,
        .objective = objective,
        .kl = NPAGG_KL_AUTO,
        .points = iwae ? NPAGG_POINTS_ALL : NPAGG_POINTS_TARGET,
        .normalise = iwae ? NPAGG_NORMALISE_POINTS : NPAGG_NORMALISE_NONE,
        .sampling = NPAGG_SAMPLE_STRATIFIED,
        .grad = NPAGG_GRAD_UNROLL,
    };
}

static int64_t or_default(int64_t x, int64_t standard)
{
    return x > 0 ? x : x < 0 ? 0 : standard;
}

static npagg_prior *create_prior(npagg_ctx *ctx, const flavour *kind, int64_t d)
{
    npagg_prior *prior = NULL;
    if (kind->kind == GAUSSIAN)
        ASSERT_OK(ctx, npagg_prior_create_gaussian(ctx, d, &prior));
    else if (kind->kind == MIXTURE)
        ASSERT_OK(ctx, npagg_prior_create_mixture(ctx, d, kind->k, &prior));
    else
        ASSERT_OK(ctx, npagg_prior_create_student(ctx, d, &prior));
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_prior_set_robust(prior, kind->robust));
    return prior;
}

static npagg_objective *create_objective(npagg_ctx *ctx, const model_spec *spec)
{
    npagg_objective *o = NULL;
    ASSERT_OK(ctx, npagg_objective_create(ctx, spec->objective, &o));
    ASSERT_OK(ctx, npagg_objective_set_kl(o, spec->kl));
    ASSERT_OK(ctx, npagg_objective_set_points(o, spec->points));
    ASSERT_OK(ctx, npagg_objective_set_normalise(o, spec->normalise));
    ASSERT_OK(ctx, npagg_objective_set_sampling(o, spec->sampling));
    ASSERT_OK(ctx, npagg_objective_set_samples(o, or_default(spec->samples, 4)));
    return o;
}

int is_of_sets(const model_spec *spec)
{
    return spec->prior->kind >= OF_MEAN;
}

static npagg_status create_encoder(npagg_ctx *ctx, const model_spec *spec, int64_t width,
                                   npagg_encoder **out)
{
    const int64_t d = or_default(spec->d, 2), x = or_default(spec->x_dim, 1);
    const int64_t y = or_default(spec->y_dim, 1), pre[2] = {width, 2 * width};
    if (spec->prior->kind == OF_MEAN)
        return npagg_encoder_create_mean(ctx, x, y, d, 2, pre, 1, &width, out);
    if (spec->prior->kind == OF_ATTENTION)
        return npagg_encoder_create_attention(ctx, x, y, d, 2, pre, 2, 1, &width, out);
    return npagg_encoder_create_mlp(ctx, x, y, d, 1, &width, out);
}

static void create_networks(npagg_ctx *ctx, const model_spec *spec, model_parts *parts)
{
    const int64_t d = or_default(spec->d, 2), width = or_default(spec->width, 3);
    const int64_t x = or_default(spec->x_dim, 1), y = or_default(spec->y_dim, 1);
    ASSERT_OK(ctx, create_encoder(ctx, spec, width, &parts->encoder));
    ASSERT_OK(ctx, npagg_decoder_create_mlp(ctx, x, y, d, 1, &width, &parts->decoder));
    ASSERT_OK(ctx, npagg_encoder_set_activation(parts->encoder, NPAGG_ACTIVATION_TANH));
    ASSERT_OK(ctx, npagg_decoder_set_activation(parts->decoder, NPAGG_ACTIVATION_GELU));
    if (!is_of_sets(spec))
        ASSERT_OK(ctx, npagg_encoder_set_trunk(parts->encoder, spec->trunk));
    ASSERT_OK(ctx, npagg_decoder_set_likelihood(parts->decoder, spec->bernoulli));
}

model_parts parts_create(npagg_ctx *ctx, const model_spec *spec)
{
    model_parts parts = {0};
    create_networks(ctx, spec, &parts);
    parts.objective = create_objective(ctx, spec);
    if (is_of_sets(spec))
        return parts;
    parts.prior = create_prior(ctx, spec->prior, or_default(spec->d, 2));
    ASSERT_OK(ctx, npagg_vmp_create(ctx, &parts.vmp));
    ASSERT_OK(ctx, npagg_vmp_set_max_iters(parts.vmp, (int32_t)or_default(spec->sweeps, 3)));
    ASSERT_OK(ctx, npagg_vmp_set_grad(parts.vmp, spec->grad));
    return parts;
}

void parts_destroy(model_parts *parts)
{
    npagg_encoder_destroy(parts->encoder);
    npagg_prior_destroy(parts->prior);
    npagg_vmp_destroy(parts->vmp);
    npagg_decoder_destroy(parts->decoder);
    npagg_objective_destroy(parts->objective);
}

/* Twice the usual start for the networks, numbers of order one for the prior. */
static double *draw_params(npagg_ctx *ctx, const model_call *f, test_rng *rng, uint64_t seed)
{
    double *params = zeros_of(f->p);
    ASSERT_OK(ctx, npagg_model_init_params_f64(ctx, f->model, seed, params));
    const int64_t to = npagg_model_param_offset(f->model, "decoder");
    const int64_t from = is_of_sets(&f->spec) ? to : npagg_model_param_offset(f->model, "prior");
    const int64_t logs = npagg_model_param_offset(f->model, "prior.logvar");
    const int64_t c0 = npagg_model_param_offset(f->model, "prior.log_c0");
    for (int64_t i = 0; i < f->p; i++)
        if (i < from || i >= to)
            params[i] *= 2;
        else if (logs < 0 || i == c0)
            params[i] = rng_uniform(rng, -0.7, 1.6);
        else
            params[i] = i < logs ? rng_normal(rng) : 0.5 * rng_normal(rng);
    return params;
}

static void *keep(const model_call *f, int64_t n, double *x)
{
    round_numbers(n, x);
    void *native = native_create(f->precision, n, x);
    free(x);
    return native;
}

static double *draw_y(const model_call *f, test_rng *rng)
{
    double *y = normals_of(rng, f->n * f->y_dim);
    for (int64_t i = 0; f->spec.bernoulli && i < f->n * f->y_dim; i++)
        y[i] = y[i] > 0 ? 1 : y[i] > -0.5 ? 0.25 : 0;
    return y;
}

static void take_outputs(model_call *f)
{
    f->out_bytes = (size_t)(f->n_sets + f->p) * f->real;
    f->out = calloc(f->out_bytes, 1);
    TEST_ASSERT_NOT_NULL(f->out);
    f->loss = f->out;
    f->dparams = f->out + (size_t)f->n_sets * f->real;
}

static void draw_arrays(npagg_ctx *ctx, model_call *f, uint64_t seed)
{
    test_rng rng = {seed + 1000};
    f->params = keep(f, f->p, draw_params(ctx, f, &rng, seed));
    f->x = keep(f, f->n * f->x_dim, normals_of(&rng, f->n * f->x_dim));
    f->y = keep(f, f->n * f->y_dim, draw_y(f, &rng));
    f->noise = keep(f, f->n_sets * f->s * f->d, normals_of(&rng, f->n_sets * f->s * f->d));
    f->dloss = keep(f, f->n_sets, normals_of(&rng, f->n_sets));
    f->which = calloc((size_t)(f->n_sets * f->s) + 1, sizeof *f->which);
    TEST_ASSERT_NOT_NULL(f->which);
    for (int64_t i = 0; i < f->n_sets * f->s; i++)
        f->which[i] = (int32_t)rng_int(&rng, 0, f->k - 1);
    take_outputs(f);
}

static void read_sizes(model_call *f)
{
    f->p = npagg_model_param_count(f->model);
    f->q = npagg_model_size(f->model, "q");
    f->d = npagg_model_size(f->model, "d");
    f->k = npagg_model_size(f->model, "k");
    f->s = npagg_model_size(f->model, "samples");
    f->x_dim = npagg_model_size(f->model, "x");
    f->y_dim = npagg_model_size(f->model, "y");
}

static void *copy_of(const void *p, size_t bytes)
{
    void *c = malloc(bytes + 1);
    TEST_ASSERT_NOT_NULL(c);
    if (bytes > 0)
        memcpy(c, p, bytes);
    return c;
}

model_call *model_call_create(npagg_ctx *ctx, const model_spec *spec, int precision, uint64_t seed,
                              int64_t n_sets, const int64_t *sizes, const int64_t *n_ctx)
{
    model_call *f = calloc(1, sizeof *f);
    TEST_ASSERT_NOT_NULL(f);
    f->precision = precision;
    f->real = (size_t)precision / 8;
    f->spec = *spec;
    f->owns = 1;
    f->parts = parts_create(ctx, spec);
    ASSERT_OK(ctx, npagg_model_create(ctx, f->parts.encoder, f->parts.prior, f->parts.vmp,
                                      f->parts.decoder, f->parts.objective, &f->model));
    f->n_sets = n_sets;
    f->offsets = offsets_of(n_sets, sizes);
    f->n = f->offsets[n_sets];
    f->n_ctx = copy_of(n_ctx, (size_t)n_sets * sizeof *n_ctx);
    read_sizes(f);
    draw_arrays(ctx, f, seed);
    return f;
}

model_call *model_call_ragged(npagg_ctx *ctx, const model_spec *spec, int precision, uint64_t seed)
{
    const int64_t sizes[RAGGED_SETS] = {6, 3, 2, 0, 2}, n_ctx[RAGGED_SETS] = {3, 0, 2, 0, 1};
    return model_call_create(ctx, spec, precision, seed, RAGGED_SETS, sizes, n_ctx);
}

static void *copy_rows(const model_call *f, const void *rows, int64_t from, int64_t n,
                       int64_t width)
{
    const size_t each = (size_t)width * f->real;
    return copy_of((const unsigned char *)rows + (size_t)from * each, (size_t)n * each);
}

model_call *model_call_task(const model_call *whole, int64_t b)
{
    model_call *f = copy_of(whole, sizeof *whole);
    const int64_t from = whole->offsets[b], n = whole->offsets[b + 1] - from;
    f->owns = 0;
    f->n_sets = 1;
    f->n = n;
    f->offsets = offsets_of(1, &n);
    f->n_ctx = copy_of(whole->n_ctx + b, sizeof *f->n_ctx);
    f->params = copy_rows(whole, whole->params, 0, 1, f->p);
    f->x = copy_rows(whole, whole->x, from, n, f->x_dim);
    f->y = copy_rows(whole, whole->y, from, n, f->y_dim);
    f->noise = copy_rows(whole, whole->noise, b, 1, f->s * f->d);
    f->dloss = copy_rows(whole, whole->dloss, b, 1, 1);
    f->which = copy_of(whole->which + b * f->s, (size_t)f->s * sizeof *f->which);
    take_outputs(f);
    return f;
}

void model_call_destroy(model_call *f)
{
    if (f->owns) {
        npagg_model_destroy(f->model);
        parts_destroy(&f->parts);
    }
    free(f->offsets);
    free(f->n_ctx);
    free(f->params);
    free(f->x);
    free(f->y);
    free(f->noise);
    free(f->dloss);
    free(f->which);
    free(f->out);
    free(f);
}

npagg_status model_forward(npagg_ctx *ctx, const model_call *f, npagg_cache *cache)
{
    if (f->precision == 32)
        return npagg_model_forward_f32(ctx, f->model, f->params, f->n_sets, f->offsets, f->n_ctx,
                                       f->x, f->y, f->noise, f->which, f->loss, cache);
    return npagg_model_forward_f64(ctx, f->model, f->params, f->n_sets, f->offsets, f->n_ctx, f->x,
                                   f->y, f->noise, f->which, f->loss, cache);
}

npagg_status model_backward(npagg_ctx *ctx, const model_call *f, npagg_cache *cache)
{
    if (f->precision == 32)
        return npagg_model_backward_f32(ctx, f->model, f->params, f->n_sets, f->offsets, f->n_ctx,
                                        f->x, f->y, f->noise, f->which, f->dloss, f->dparams,
                                        cache);
    return npagg_model_backward_f64(ctx, f->model, f->params, f->n_sets, f->offsets, f->n_ctx, f->x,
                                    f->y, f->noise, f->which, f->dloss, f->dparams, cache);
}

npagg_status model_step(npagg_ctx *ctx, const model_call *f)
{
    if (f->precision == 32)
        return npagg_model_step_f32(ctx, f->model, f->params, f->n_sets, f->offsets, f->n_ctx, f->x,
                                    f->y, f->noise, f->which, f->dloss, f->loss, f->dparams);
    return npagg_model_step_f64(ctx, f->model, f->params, f->n_sets, f->offsets, f->n_ctx, f->x,
                                f->y, f->noise, f->which, f->dloss, f->loss, f->dparams);
}

void model_run(npagg_ctx *ctx, const model_call *f, npagg_cache *cache)
{
    memset(f->out, 0, f->out_bytes);
    ASSERT_OK(ctx, model_forward(ctx, f, cache));
    ASSERT_OK(ctx, model_backward(ctx, f, cache));
}

void model_run_once(npagg_ctx *ctx, const model_call *f)
{
    npagg_cache *cache = NULL;
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    model_run(ctx, f, cache);
    npagg_cache_destroy(cache);
}

void model_run_step(npagg_ctx *ctx, const model_call *f)
{
    memset(f->out, 0, f->out_bytes);
    ASSERT_OK(ctx, model_step(ctx, f));
}

double model_value(npagg_ctx *ctx, const model_call *f)
{
    double sum = 0;
    ASSERT_OK(ctx, model_forward(ctx, f, NULL));
    for (int64_t b = 0; b < f->n_sets; b++)
        sum += model_get(f, f->dloss, b) * model_get(f, f->loss, b);
    return sum;
}

double model_get(const model_call *f, const void *array, int64_t i)
{
    return f->precision == 32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

void model_put(const model_call *f, void *array, int64_t i, double x)
{
    if (f->precision == 32)
        ((float *)array)[i] = (float)x;
    else
        ((double *)array)[i] = x;
}

const char *model_describe(const model_call *f, const char *what)
{
    static const char *const objectives[] = {"elbo", "elbo_closed", "iwae", "ml"};
    static char text[256];
    const model_spec *s = &f->spec;
    snprintf(text, sizeof text,
             "%s %s kl=%d points=%d normalise=%d sampling=%d grad=%d trunk=%d bernoulli=%d f%d: %s",
             s->prior->name, objectives[s->objective], (int)s->kl, (int)s->points,
             (int)s->normalise, (int)s->sampling, (int)s->grad, s->trunk, s->bernoulli,
             f->precision, what);
    return text;
}

void model_poison(const model_call *f)
{
    memset(f->out, POISON, f->out_bytes);
}

void model_check_poison(const model_call *f, int line)
{
    for (size_t i = 0; i < f->out_bytes; i++)
        if (f->out[i] != POISON)
            UNITY_TEST_FAIL((UNITY_LINE_TYPE)line, model_describe(f, "an output was written"));
}

void model_check_same(const model_call *want, const model_call *got, int line)
{
    UNITY_TEST_ASSERT(want->out_bytes == got->out_bytes, (UNITY_LINE_TYPE)line, "other shapes");
    check_same_bits((int64_t)((size_t)want->n_sets * want->real), want->loss, got->loss,
                    model_describe(want, "loss"), line);
    check_same_bits((int64_t)((size_t)want->p * want->real), want->dparams, got->dparams,
                    model_describe(want, "dparams"), line);
}

/* The KL divergences that go with a prior, and which of them an objective reads. */
static int is_allowed(const model_spec *s)
{
    const int one = s->prior->k == 1;
    const int exact = !s->prior->robust && s->prior->kind < STUDENT;
    if (s->objective == NPAGG_OBJECTIVE_ELBO_CLOSED && !exact)
        return 0;
    if (s->objective != NPAGG_OBJECTIVE_ELBO)
        return s->kl == NPAGG_KL_AUTO;
    return s->kl != NPAGG_KL_CLOSED || one;
}

static void for_each_option(npagg_ctx *ctx, model_spec *spec, spec_fn fn)
{
    for (int i = 0; i < 8; i++) {
        spec->points = i & 1;
        spec->normalise = i >> 1 & 1;
        spec->sampling = i >> 2 ? NPAGG_SAMPLE_CHOSEN : NPAGG_SAMPLE_STRATIFIED;
        if (spec->sampling == NPAGG_SAMPLE_STRATIFIED || spec->prior->k > 1)
            fn(ctx, spec);
    }
}

void for_each_spec(npagg_ctx *ctx, const flavour *prior, spec_fn fn)
{
    for (int32_t objective = 0; objective < 4; objective++)
        for (int32_t kl = NPAGG_KL_CLOSED; kl <= NPAGG_KL_AUTO; kl++) {
            model_spec spec = spec_of(prior, objective);
            spec.kl = kl;
            if (is_allowed(&spec))
                for_each_option(ctx, &spec, fn);
        }
}
