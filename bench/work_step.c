/* Training steps: losses and gradients of a model, then Adam over its flat array. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

typedef struct step_work {
    work base; /* first: a work * points here too */
    npagg_model *model;
    int64_t n, p, x_dim;
    int64_t *offsets, *n_ctx;        /* [B+1], [B] */
    float *x, *y, *noise;            /* [N,X], [N,1], [B,S,D] */
    float *dloss, *loss;             /* [B] */
    float *first, *params, *dparams; /* [P]: as begun with, now, gradient */
    float *mean, *square;            /* [P]: of Adam */
    int64_t steps;
} step_work;

/* The paper's Adam: rate 5e-4, betas 0.9 and 0.999, epsilon 1e-8, as PyTorch defines it. */
static void run_adam(int64_t n, int64_t t, const float *restrict g, float *restrict p,
                     float *restrict mean, float *restrict square)
{
    const float rate = 5e-4f / (float)(1 - pow(0.9, (double)t));
    const float scale = 1 / (float)sqrt(1 - pow(0.999, (double)t));
    for (int64_t i = 0; i < n; i++) {
        mean[i] = 0.9f * mean[i] + 0.1f * g[i];
        square[i] = 0.999f * square[i] + 0.001f * g[i] * g[i];
        p[i] -= rate * mean[i] / (scale * sqrtf(square[i]) + 1e-8f);
    }
}

static void run_gradient(step_work *w)
{
    memset(w->dparams, 0, sizeof(float) * (size_t)w->p);
    work_check(w->base.ctx, npagg_model_step_f32(w->base.ctx, w->model, w->params, w->base.row.sets,
                                                 w->offsets, w->n_ctx, w->x, w->y, w->noise, NULL,
                                                 w->dloss, w->loss, w->dparams));
}

static void run_step(work *base)
{
    step_work *w = (step_work *)base;
    run_gradient(w);
    run_adam(w->p, ++w->steps, w->dparams, w->params, w->mean, w->square);
}

/* Every block trains from the same start. */
static void begin_step(work *base)
{
    step_work *w = (step_work *)base;
    const size_t size = sizeof(float) * (size_t)w->p;
    memcpy(w->params, w->first, size);
    memset(w->mean, 0, size);
    memset(w->square, 0, size);
    w->steps = 0;
}

/* The gradient is that of the parameters before the step; "stepped" are those after it. */
static void dump_step(const work *base, const char *folder)
{
    const step_work *w = (const step_work *)base;
    const row *r = &base->row;
    char path[4096];
    work_write(folder, "x", w->x, w->n * w->x_dim);
    work_write(folder, "y", w->y, w->n);
    work_write(folder, "noise", w->noise, r->sets * r->samples * r->d);
    work_write(folder, "params", w->first, w->p);
    work_write(folder, "loss", w->loss, r->sets);
    work_write(folder, "dparams", w->dparams, w->p);
    work_write(folder, "stepped", w->params, w->p);
    if (strlen(folder) < sizeof path - 32) {
        strcpy(path, folder);
        strcat(path, "/model.safetensors");
        work_check(base->ctx, npagg_model_save_f32(base->ctx, w->model, w->first, path));
    }
}

static void destroy_step(work *base)
{
    step_work *w = (step_work *)base;
    float *array[] = {w->x,     w->y,      w->noise,   w->dloss, w->loss,
                      w->first, w->params, w->dparams, w->mean,  w->square};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; i++)
        free(array[i]);
    free(w->offsets);
    free(w->n_ctx);
    npagg_model_destroy(w->model);
    npagg_ctx_destroy(base->ctx);
    free(w);
}

static npagg_prior *create_prior(npagg_ctx *ctx, const row *r)
{
    npagg_prior *prior = NULL;
    work_check(ctx, r->prior == ROW_BA    ? npagg_prior_create_gaussian(ctx, r->d, &prior)
                    : r->prior == ROW_MBA ? npagg_prior_create_mixture(ctx, r->d, r->count, &prior)
                                          : npagg_prior_create_student(ctx, r->d, &prior));
    return prior;
}

/* Importance weighted, over all points, stratified samples: the objective's defaults. */
static npagg_objective *create_objective(npagg_ctx *ctx, const row *r)
{
    npagg_objective *objective;
    work_check(ctx, npagg_objective_create(ctx, NPAGG_OBJECTIVE_IWAE, &objective));
    work_check(ctx, npagg_objective_set_samples(objective, r->samples));
    return objective;
}

/* The paper's networks: encoder 64 wide, decoder 128 wide, both one layer deeper for images. */
static npagg_model *create_model(npagg_ctx *ctx, const row *r, int64_t x_dim)
{
    const int64_t narrow[] = {64, 64, 64, 64}, wide[] = {128, 128, 128};
    npagg_encoder *encoder;
    npagg_decoder *decoder;
    npagg_vmp *vmp;
    npagg_model *model;
    npagg_prior *prior = create_prior(ctx, r);
    npagg_objective *objective = create_objective(ctx, r);
    work_check(ctx,
               npagg_encoder_create_mlp(ctx, x_dim, 1, r->d, 3 + r->is_image, narrow, &encoder));
    work_check(ctx, npagg_decoder_create_mlp(ctx, x_dim, 1, r->d, 2 + r->is_image, wide, &decoder));
    work_check(ctx, npagg_vmp_create(ctx, &vmp));
    if (r->prior == ROW_RBA)
        work_check(ctx, npagg_vmp_set_max_iters(vmp, (int32_t)r->count));
    work_check(ctx, npagg_model_create(ctx, encoder, prior, vmp, decoder, objective, &model));
    npagg_vmp_destroy(vmp);
    npagg_decoder_destroy(decoder);
    npagg_encoder_destroy(encoder);
    npagg_objective_destroy(objective);
    npagg_prior_destroy(prior);
    return model;
}

static void create_batch(step_work *w, const row *r)
{
    const int64_t noise = r->sets * r->samples * r->d;
    w->x = work_array(w->n * w->x_dim, sizeof(float));
    w->y = work_array(w->n, sizeof(float));
    w->noise = work_array(noise, sizeof(float));
    w->loss = work_array(r->sets, sizeof(float));
    w->dloss = work_array(r->sets, sizeof(float));
    w->offsets = work_array(r->sets + 1, sizeof(int64_t));
    w->n_ctx = work_array(r->sets, sizeof(int64_t));
    work_fill_uniform(0, w->n * w->x_dim, -1, 1, w->x);
    work_fill_normal(1, w->n, w->y);
    work_fill_normal(2, noise, w->noise);
    for (int64_t b = 0; b < r->sets; b++) {
        w->offsets[b + 1] = (b + 1) * r->points;
        w->n_ctx[b] = r->context;
        w->dloss[b] = 1 / (float)r->sets;
    }
}

static void create_params(step_work *w)
{
    float **array[] = {&w->first, &w->params, &w->dparams, &w->mean, &w->square};
    w->p = npagg_model_param_count(w->model);
    for (size_t i = 0; i < sizeof array / sizeof array[0]; i++)
        *array[i] = work_array(w->p, sizeof(float));
    work_check(w->base.ctx, npagg_model_init_params_f32(w->base.ctx, w->model, 1, w->first));
    begin_step(&w->base);
}

work *work_create_step(const row *r, int32_t threads)
{
    step_work *w = work_array(1, sizeof *w);
    w->base = (work){.row = *r,
                     .run = run_step,
                     .begin = begin_step,
                     .dump = dump_step,
                     .destroy = destroy_step};
    w->n = r->sets * r->points;
    w->x_dim = r->is_image ? 2 : 1;
    work_check(NULL, npagg_ctx_create(&w->base.ctx));
    work_check(w->base.ctx, npagg_ctx_set_threads(w->base.ctx, threads));
    w->model = create_model(w->base.ctx, r, w->x_dim);
    create_batch(w, r);
    create_params(w);
    return &w->base;
}
