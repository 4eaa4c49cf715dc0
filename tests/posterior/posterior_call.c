#include "posterior_call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

const char *const op_names[OPS] = {"stratified", "chosen",     "pathwise", "logpdf",  "kl closed",
                                   "kl sampled", "kl matched", "moments",  "entropy", "choose"};

double call_get(const posterior_call *f, const void *array, int64_t i)
{
    return f->precision == 32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

void call_put(const posterior_call *f, void *array, int64_t i, double x)
{
    if (f->precision == 32)
        ((float *)array)[i] = (float)x;
    else
        ((double *)array)[i] = x;
}

static void *zeros(int64_t n, size_t size)
{
    void *x = calloc(n > 0 ? (size_t)n : 1, size);
    TEST_ASSERT_NOT_NULL(x);
    return x;
}

static void *normals(const posterior_call *f, test_rng *rng, int64_t n, double scale)
{
    void *x = zeros(n, f->real);
    for (int64_t i = 0; i < n; i++)
        call_put(f, x, i, scale * rng_normal(rng));
    return x;
}

/* n logits become log weights. */
static void normalise(const posterior_call *f, void *x, int64_t at, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += exp(call_get(f, x, at + i));
    for (int64_t i = 0; i < n; i++)
        call_put(f, x, at + i, call_get(f, x, at + i) - log(sum));
}

static void *draw_posteriors(const posterior_call *f, test_rng *rng)
{
    const int64_t kd = f->k * f->d;
    void *q = normals(f, rng, f->n_sets * f->count, 1);
    for (int64_t b = 0; b < f->n_sets; b++) {
        for (int64_t j = 0; j < kd; j++)
            call_put(f, q, b * f->count + kd + j, exp(rng_uniform(rng, log(0.2), log(2.0))));
        normalise(f, q, b * f->count + 2 * kd, f->count - 2 * kd);
    }
    return q;
}

static void draw_samples(posterior_call *f, test_rng *rng)
{
    const int64_t n = f->n_sets * f->n_samples;
    f->noise = normals(f, rng, n * f->d, 1);
    f->z = normals(f, rng, n * f->d, 1.5);
    f->logw = normals(f, rng, n, 1);
    for (int64_t b = 0; b < f->n_sets; b++)
        normalise(f, f->logw, b * f->n_samples, f->n_samples);
    f->u = zeros(n, f->real);
    f->which = zeros(n, sizeof *f->which);
    for (int64_t i = 0; i < n; i++) {
        call_put(f, f->u, i, rng_uniform(rng, 0, 0.999));
        f->which[i] = (int32_t)rng_int(rng, 0, f->k - 1);
    }
}

/* The arrays of outputs in one block; only measures if out is NULL. */
static void place_outputs(posterior_call *f)
{
    const int64_t s = f->n_sets * f->n_samples, bd = f->n_sets * f->d;
    const int64_t counts[] = {
        s * f->d, s, f->n_sets * f->count, f->n_sets * f->count, s * f->d, s, f->n_sets, bd, bd};
    void **arrays[] = {&f->point, &f->sample, &f->dq,   &f->dp, &f->dz,
                       &f->dlogw, &f->set,    &f->mean, &f->var};
    size_t at = 0;
    for (int i = 0; i < 9; i++) {
        *arrays[i] = f->out ? f->out + at : NULL;
        at += (size_t)counts[i] * f->real;
    }
    f->chosen = f->out ? (int32_t *)(void *)(f->out + at) : NULL;
    f->out_bytes = at + (size_t)s * sizeof(int32_t);
}

static void make_outputs(posterior_call *f)
{
    f->out = NULL;
    place_outputs(f);
    f->out = zeros((int64_t)f->out_bytes, 1);
    place_outputs(f);
}

posterior_call *call_create(npagg_ctx *ctx, test_rng *rng, prior_kind kind, int64_t d, int64_t k,
                            int64_t n_sets, int64_t n_samples, int precision)
{
    posterior_call *f = zeros(1, sizeof *f);
    *f = (posterior_call){.precision = precision,
                          .real = precision == 32 ? sizeof(float) : sizeof(double),
                          .owns_prior = 1,
                          .d = d,
                          .k = kind == MIXTURE ? k : 1,
                          .n_sets = n_sets,
                          .n_samples = n_samples,
                          .mode = -1};
    ASSERT_OK(ctx, kind == MIXTURE   ? npagg_prior_create_mixture(ctx, d, k, &f->prior)
                   : kind == STUDENT ? npagg_prior_create_student(ctx, d, &f->prior)
                                     : npagg_prior_create_gaussian(ctx, d, &f->prior));
    f->count = npagg_prior_posterior_count(f->prior);
    f->q = draw_posteriors(f, rng);
    f->p = draw_posteriors(f, rng);
    draw_samples(f, rng);
    f->dpoint = normals(f, rng, n_sets * n_samples * d, 1);
    f->dsample = normals(f, rng, n_sets * n_samples, 1);
    f->dset = normals(f, rng, n_sets, 1);
    f->dmean = normals(f, rng, n_sets * d, 1);
    f->dvar = normals(f, rng, n_sets * d, 1);
    make_outputs(f);
    return f;
}

static void *narrow(const void *x, int64_t n)
{
    float *y = zeros(n, sizeof *y);
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)((const double *)x)[i];
    return y;
}

posterior_call *call_narrow(const posterior_call *f)
{
    const int64_t s = f->n_sets * f->n_samples, bq = f->n_sets * f->count, bd = f->n_sets * f->d;
    posterior_call *g = zeros(1, sizeof *g);
    *g = *f;
    g->owns_prior = 0;
    g->precision = 32;
    g->real = sizeof(float);
    g->q = narrow(f->q, bq);
    g->p = narrow(f->p, bq);
    g->noise = narrow(f->noise, s * f->d);
    g->z = narrow(f->z, s * f->d);
    g->logw = narrow(f->logw, s);
    g->u = narrow(f->u, s);
    g->which = zeros(s, sizeof *g->which);
    memcpy(g->which, f->which, (size_t)s * sizeof *g->which);
    g->dpoint = narrow(f->dpoint, s * f->d);
    g->dsample = narrow(f->dsample, s);
    g->dset = narrow(f->dset, f->n_sets);
    g->dmean = narrow(f->dmean, bd);
    g->dvar = narrow(f->dvar, bd);
    make_outputs(g);
    return g;
}

void call_destroy(posterior_call *f)
{
    if (!f)
        return;
    void *arrays[] = {f->q,      f->p,       f->noise, f->z,     f->logw, f->u,  f->which,
                      f->dpoint, f->dsample, f->dset,  f->dmean, f->dvar, f->out};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    if (f->owns_prior)
        npagg_prior_destroy(f->prior);
    free(f);
}

int call_lacks(const posterior_call *f, posterior_op op)
{
    return op == OP_KL_CLOSED && f->k > 1;
}

static int32_t mode_of(const posterior_call *f, posterior_op op)
{
    if (f->mode >= 0)
        return f->mode;
    return op <= OP_PATHWISE ? (int32_t)op : (int32_t)(op - OP_KL_CLOSED);
}

#define CALL(function, ...)                                                                        \
    (f->precision == 32 ? function##_f32(ctx, f->prior, __VA_ARGS__)                               \
                        : function##_f64(ctx, f->prior, __VA_ARGS__))

npagg_status call_forward(npagg_ctx *ctx, const posterior_call *f, posterior_op op)
{
    switch (op) {
    case OP_STRATIFIED:
    case OP_CHOSEN:
    case OP_PATHWISE:
        return CALL(npagg_posterior_sample, mode_of(f, op), f->n_sets, f->n_samples, f->q, f->noise,
                    f->which, f->point, f->sample);
    case OP_LOGPDF:
        return CALL(npagg_posterior_logpdf, f->n_sets, f->n_samples, f->q, f->z, f->sample);
    case OP_KL_CLOSED:
    case OP_KL_SAMPLED:
    case OP_KL_MATCHED:
        return CALL(npagg_posterior_kl, mode_of(f, op), f->n_sets, f->n_samples, f->q, f->p, f->z,
                    f->logw, f->set);
    case OP_MOMENTS:
        return CALL(npagg_posterior_moments, f->n_sets, f->q, f->mean, f->var);
    case OP_ENTROPY:
        return CALL(npagg_posterior_entropy, f->n_sets, f->n_samples, f->q, f->z, f->logw, f->set);
    default:
        return CALL(npagg_posterior_choose, f->n_sets, f->n_samples, f->q, f->u, f->chosen);
    }
}

npagg_status call_backward(npagg_ctx *ctx, const posterior_call *f, posterior_op op)
{
    switch (op) {
    case OP_STRATIFIED:
    case OP_CHOSEN:
    case OP_PATHWISE:
        return CALL(npagg_posterior_sample_backward, mode_of(f, op), f->n_sets, f->n_samples, f->q,
                    f->noise, f->which, f->dpoint, f->dsample, f->dq);
    case OP_LOGPDF:
        return CALL(npagg_posterior_logpdf_backward, f->n_sets, f->n_samples, f->q, f->z,
                    f->dsample, f->dq, f->dz);
    case OP_KL_CLOSED:
    case OP_KL_SAMPLED:
    case OP_KL_MATCHED:
        return CALL(npagg_posterior_kl_backward, mode_of(f, op), f->n_sets, f->n_samples, f->q,
                    f->p, f->z, f->logw, f->dset, f->dq, f->dp, f->dz, f->dlogw);
    case OP_MOMENTS:
        return CALL(npagg_posterior_moments_backward, f->n_sets, f->q, f->dmean, f->dvar, f->dq);
    case OP_ENTROPY:
        return CALL(npagg_posterior_entropy_backward, f->n_sets, f->n_samples, f->q, f->z, f->logw,
                    f->dset, f->dq, f->dz, f->dlogw);
    default:
        return NPAGG_OK;
    }
}

void call_run(npagg_ctx *ctx, const posterior_call *f, posterior_op op)
{
    memset(f->out, 0, f->out_bytes);
    check_status(ctx, NPAGG_OK, call_forward(ctx, f, op), "", op_names[op], __LINE__);
    check_status(ctx, NPAGG_OK, call_backward(ctx, f, op), "", op_names[op], __LINE__);
}

static double dot(const posterior_call *f, int64_t n, const void *x, const void *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += call_get(f, x, i) * call_get(f, y, i);
    return sum;
}

double call_loss(npagg_ctx *ctx, const posterior_call *f, posterior_op op)
{
    const int64_t s = f->n_sets * f->n_samples, bd = f->n_sets * f->d;
    check_status(ctx, NPAGG_OK, call_forward(ctx, f, op), "", op_names[op], __LINE__);
    if (op <= OP_PATHWISE)
        return dot(f, s * f->d, f->point, f->dpoint) + dot(f, s, f->sample, f->dsample);
    if (op == OP_LOGPDF)
        return dot(f, s, f->sample, f->dsample);
    if (op == OP_MOMENTS)
        return dot(f, bd, f->mean, f->dmean) + dot(f, bd, f->var, f->dvar);
    return dot(f, f->n_sets, f->set, f->dset);
}

void call_poison(const posterior_call *f)
{
    memset(f->out, 0xA5, f->out_bytes);
}

void call_check_poison(const posterior_call *f, const char *what, int line)
{
    for (size_t i = 0; i < f->out_bytes; i++)
        if (f->out[i] != 0xA5)
            UNITY_TEST_FAIL((UNITY_LINE_TYPE)line, what);
}
