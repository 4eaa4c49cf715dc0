#include "shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "model/model.h"
#include "problem.h"

const shape shapes[SHAPES] = {
    {
        .size = {1, 1, 4},
        .encoder = {{8, 8}, NPAGG_ACTIVATION_RELU, 0, 1e-4, 1},
        .prior = {0, 0, 1},
        .vmp = {5, NPAGG_GRAD_UNROLL, 0},
        .decoder = {{8}, NPAGG_ACTIVATION_RELU, NPAGG_LIKELIHOOD_GAUSSIAN, 0.1},
        .objective = {NPAGG_OBJECTIVE_ELBO, 0, 0, NPAGG_SAMPLE_STRATIFIED, NPAGG_KL_AUTO, 5},
    },
    {
        .size = {2, 3, 5},
        .encoder = {{7}, NPAGG_ACTIVATION_GELU, 1, 1e-3, 0.7},
        .prior = {1, 0, 3},
        .vmp = {1, NPAGG_GRAD_LAST_STEP, 1e-6},
        .decoder = {{6, 5, 4}, NPAGG_ACTIVATION_TANH, NPAGG_LIKELIHOOD_GAUSSIAN, 0},
        .objective = {NPAGG_OBJECTIVE_ELBO_CLOSED, 1, 1, NPAGG_SAMPLE_STRATIFIED, NPAGG_KL_AUTO, 3},
    },
    {
        .size = {1, 1, 2},
        .encoder = {{0}, NPAGG_ACTIVATION_TANH, 0, 0.25, 4},
        .prior = {2, 1, 1},
        .vmp = {10, NPAGG_GRAD_IMPLICIT, 1e-3},
        .decoder = {{0}, NPAGG_ACTIVATION_GELU, NPAGG_LIKELIHOOD_BERNOULLI, 0.95},
        .objective = {NPAGG_OBJECTIVE_IWAE, 1, 1, NPAGG_SAMPLE_CHOSEN, NPAGG_KL_AUTO, 7},
    },
    {
        .size = {2, 1, 3},
        .encoder = {{4, 3, 2}, NPAGG_ACTIVATION_SOFTPLUS, 1, 1.0 / 3, 2.0 / 3},
        .prior = {2, 0, 1},
        .vmp = {3, NPAGG_GRAD_UNROLL, 0.1},
        .decoder = {{3}, NPAGG_ACTIVATION_SIGMOID, NPAGG_LIKELIHOOD_GAUSSIAN, 1.0 / 7},
        .objective = {NPAGG_OBJECTIVE_ML, 0, 1, NPAGG_SAMPLE_PATHWISE, NPAGG_KL_AUTO, 1},
    },
    {
        .size = {0, 2, 1},
        .encoder = {{5}, NPAGG_ACTIVATION_SIGMOID, 0, 1e-300, 1e300},
        .prior = {1, 1, 2},
        .vmp = {1000, NPAGG_GRAD_UNROLL, 5e-324},
        .decoder = {{2}, NPAGG_ACTIVATION_SOFTPLUS, NPAGG_LIKELIHOOD_GAUSSIAN, 0.1},
        .objective = {NPAGG_OBJECTIVE_ELBO, 1, 0, NPAGG_SAMPLE_CHOSEN, NPAGG_KL_SAMPLED, 9},
    },
    {
        .size = {1, 1, 1},
        .encoder = {{3}, NPAGG_ACTIVATION_RELU, 0, 1e-4, 1},
        .prior = {1, 1, 2},
        .vmp = {5, NPAGG_GRAD_UNROLL, 0},
        .decoder = {{2}, NPAGG_ACTIVATION_RELU, NPAGG_LIKELIHOOD_GAUSSIAN, 0.1},
        .objective = {NPAGG_OBJECTIVE_ELBO, 0, 0, NPAGG_SAMPLE_PATHWISE, NPAGG_KL_MATCHED, 4},
    },
    {
        .size = {1, 1, 3},
        .encoder = {{3}, NPAGG_ACTIVATION_RELU, 0, 1e-4, 1},
        .prior = {0, 1, 1},
        .vmp = {5, NPAGG_GRAD_UNROLL, 0},
        .decoder = {{2}, NPAGG_ACTIVATION_RELU, NPAGG_LIKELIHOOD_GAUSSIAN, 0.1},
        .objective = {NPAGG_OBJECTIVE_ELBO, 0, 0, NPAGG_SAMPLE_STRATIFIED, NPAGG_KL_CLOSED,
                      INT64_C(1) << 30},
    },
    {
        .size = {2, 1, 3},
        .encoder = {{6, 5, 4}, NPAGG_ACTIVATION_GELU, 0, 1e-6, 2, {3, 7}, 0},
        .prior = {3, 0, 1},
        .decoder = {{4}, NPAGG_ACTIVATION_RELU, NPAGG_LIKELIHOOD_GAUSSIAN, 0.1},
        .objective = {NPAGG_OBJECTIVE_IWAE, 1, 1, NPAGG_SAMPLE_STRATIFIED, NPAGG_KL_AUTO, 5},
    },
    {
        .size = {1, 2, 2},
        .encoder = {{5, 6}, NPAGG_ACTIVATION_RELU, 0, 1e-8, 1, {4}, 3},
        .prior = {3, 0, 1},
        .decoder = {{4, 3}, NPAGG_ACTIVATION_RELU, NPAGG_LIKELIHOOD_BERNOULLI, 0.1},
        .objective = {NPAGG_OBJECTIVE_ELBO, 0, 1, NPAGG_SAMPLE_STRATIFIED, NPAGG_KL_AUTO, 2},
    },
};

static int64_t count_hidden(const int64_t *hidden)
{
    int64_t n = 0;
    while (n < 4 && hidden[n] > 0)
        n++;
    return n;
}

static npagg_status create_networks(npagg_ctx *ctx, const shape *s, npagg_encoder **out)
{
    const int64_t x = s->size.x, y = s->size.y, d = s->size.d, *hidden = s->encoder.hidden;
    const int64_t n = count_hidden(hidden), n_post = count_hidden(s->encoder.post);
    if (n_post == 0)
        return npagg_encoder_create_mlp(ctx, x, y, d, n, hidden, out);
    if (s->encoder.heads == 0)
        return npagg_encoder_create_mean(ctx, x, y, d, n, hidden, n_post, s->encoder.post, out);
    return npagg_encoder_create_attention(ctx, x, y, d, n, hidden, s->encoder.heads, n_post,
                                          s->encoder.post, out);
}

static npagg_encoder *create_encoder(npagg_ctx *ctx, const shape *s)
{
    npagg_encoder *e = NULL;
    ASSERT_OK(ctx, create_networks(ctx, s, &e));
    ASSERT_OK(NULL, npagg_encoder_set_activation(e, s->encoder.activation));
    ASSERT_OK(NULL, npagg_encoder_set_var_range(e, s->encoder.lo, s->encoder.hi));
    ASSERT_OK(NULL, npagg_encoder_set_trunk(e, s->encoder.trunk));
    return e;
}

static npagg_prior *create_prior(npagg_ctx *ctx, const shape *s)
{
    npagg_prior *p = NULL;
    if (s->prior.kind == 3)
        return NULL;
    if (s->prior.kind == 0)
        ASSERT_OK(ctx, npagg_prior_create_gaussian(ctx, s->size.d, &p));
    else if (s->prior.kind == 1)
        ASSERT_OK(ctx, npagg_prior_create_mixture(ctx, s->size.d, s->prior.k, &p));
    else
        ASSERT_OK(ctx, npagg_prior_create_student(ctx, s->size.d, &p));
    ASSERT_OK(NULL, npagg_prior_set_robust(p, s->prior.robust));
    return p;
}

static npagg_vmp *create_vmp(npagg_ctx *ctx, const shape *s)
{
    npagg_vmp *v = NULL;
    if (s->prior.kind == 3)
        return NULL;
    ASSERT_OK(ctx, npagg_vmp_create(ctx, &v));
    ASSERT_OK(NULL, npagg_vmp_set_max_iters(v, s->vmp.max_iters));
    ASSERT_OK(NULL, npagg_vmp_set_tolerance(v, s->vmp.tol));
    ASSERT_OK(NULL, npagg_vmp_set_grad(v, s->vmp.grad));
    return v;
}

static npagg_decoder *create_decoder(npagg_ctx *ctx, const shape *s)
{
    npagg_decoder *d = NULL;
    ASSERT_OK(ctx,
              npagg_decoder_create_mlp(ctx, s->size.x, s->size.y, s->size.d,
                                       count_hidden(s->decoder.hidden), s->decoder.hidden, &d));
    ASSERT_OK(NULL, npagg_decoder_set_activation(d, s->decoder.activation));
    ASSERT_OK(NULL, npagg_decoder_set_likelihood(d, s->decoder.likelihood));
    ASSERT_OK(NULL, npagg_decoder_set_sd_floor(d, s->decoder.floor));
    return d;
}

static npagg_objective *create_objective(npagg_ctx *ctx, const shape *s)
{
    npagg_objective *o = NULL;
    ASSERT_OK(ctx, npagg_objective_create(ctx, s->objective.kind, &o));
    ASSERT_OK(NULL, npagg_objective_set_points(o, s->objective.points));
    ASSERT_OK(NULL, npagg_objective_set_normalise(o, s->objective.normalise));
    ASSERT_OK(NULL, npagg_objective_set_samples(o, s->objective.samples));
    ASSERT_OK(NULL, npagg_objective_set_sampling(o, s->objective.sampling));
    ASSERT_OK(NULL, npagg_objective_set_kl(o, s->objective.kl));
    return o;
}

npagg_model *shape_create(npagg_ctx *ctx, const shape *s)
{
    npagg_model *model = NULL;
    npagg_encoder *e = create_encoder(ctx, s);
    npagg_prior *p = create_prior(ctx, s);
    npagg_vmp *v = create_vmp(ctx, s);
    npagg_decoder *d = create_decoder(ctx, s);
    npagg_objective *o = create_objective(ctx, s);
    ASSERT_OK(ctx, npagg_model_create(ctx, e, p, v, d, o, &model));
    npagg_encoder_destroy(e);
    npagg_prior_destroy(p);
    npagg_vmp_destroy(v);
    npagg_decoder_destroy(d);
    npagg_objective_destroy(o);
    return model;
}

static int same_settings(const npagg_model *a, const npagg_model *b)
{
    const npagg_vmp *v = &a->vmp, *w = &b->vmp;
    const npagg_objective *o = &a->objective, *p = &b->objective;
    return a->prior.z == b->prior.z && a->prior.noise == b->prior.noise &&
           a->prior.d == b->prior.d && a->prior.k == b->prior.k && v->max_iters == w->max_iters &&
           v->grad == w->grad && v->tol == w->tol && o->kind == p->kind && o->points == p->points &&
           o->normalise == p->normalise && o->sampling == p->sampling && o->kl == p->kl &&
           o->samples == p->samples && a->kl == b->kl;
}

void check_same_model(const npagg_model *want, const npagg_model *got, int line)
{
    const UNITY_LINE_TYPE at = (UNITY_LINE_TYPE)line;
    UNITY_TEST_ASSERT(np_encoder_is_same(&want->encoder, &got->encoder), at, "encoders differ");
    UNITY_TEST_ASSERT(np_decoder_is_same(&want->decoder, &got->decoder), at, "decoders differ");
    UNITY_TEST_ASSERT(same_settings(want, got), at, "settings differ");
    UNITY_TEST_ASSERT_EQUAL_INT64(want->p, got->p, at, "numbers of parameters differ");
    UNITY_TEST_ASSERT_EQUAL_INT64(want->n_tensors, got->n_tensors, at, "tensors differ");
    for (int64_t i = 0; i < want->n_tensors; i++) {
        const np_tensor *a = &want->tensors[i], *b = &got->tensors[i];
        UNITY_TEST_ASSERT(strcmp(a->name, b->name) == 0 && a->offset == b->offset &&
                              a->rows == b->rows && a->columns == b->columns,
                          at, a->name);
    }
}

double *draw_doubles(uint64_t seed, int64_t n)
{
    const double odd[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1e-310, 3e38, 1};
    test_rng rng = {seed};
    double *x = malloc((size_t)n * sizeof *x + 1);
    for (int64_t i = 0; i < n; i++) {
        const double power = rng_uniform(&rng, -40, 38);
        x[i] = i % 11 == 5 ? odd[i / 11 % 8] : rng_uniform(&rng, -1, 1) * pow(10, power);
    }
    return x;
}

float *draw_floats(uint64_t seed, int64_t n)
{
    double *x = draw_doubles(seed, n);
    float *y = malloc((size_t)n * sizeof *y + 1);
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)x[i];
    free(x);
    return y;
}
