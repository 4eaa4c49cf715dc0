/*
 * The shortest honest training loop: a neural process learns sine waves of random phase and height
 * from a few points. The library gives losses and gradients over one flat array; data, Adam and the
 * loop are the host's.
 */
#include <math.h>
#include <npagg/npagg.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 16, CONTEXT = 8, POINTS = 20, SAMPLES = 4, D = 16, STEPS = 2000 };

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != NPAGG_OK) {                                                                  \
            fprintf(stderr, "%s: %s\n", #call, npagg_ctx_error(ctx));                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* TASKS functions y = a sin(2 x + b) at random places in [-2, 2]. */
static void draw_tasks(uint64_t step, float *x, float *y)
{
    float shape[2 * TASKS];
    npagg_uniform_fill_f32(1, 2 * step, 2 * TASKS, shape);
    npagg_uniform_fill_f32(1, 2 * step + 1, TASKS * POINTS, x);
    for (int i = 0; i < TASKS * POINTS; i++) {
        const float *ab = shape + 2 * (i / POINTS);
        x[i] = 4 * x[i] - 2;
        y[i] = (0.5f + ab[0]) * sinf(2 * x[i] + 6.2832f * ab[1]);
    }
}

/* One step of Adam over the flat array; parameters from..to-1 are frozen: the host skips them. */
static void adam(int64_t n, int64_t from, int64_t to, float *p, const float *g, float *m, float *v,
                 int t)
{
    const float rate = 2e-3f * sqrtf(1 - powf(0.999f, (float)t)) / (1 - powf(0.9f, (float)t));
    for (int64_t i = 0; i < n; i++) {
        if (i >= from && i < to)
            continue;
        m[i] = 0.9f * m[i] + 0.1f * g[i];
        v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
        p[i] -= rate * m[i] / (sqrtf(v[i]) + 1e-8f);
    }
}

static npagg_model *create_model(npagg_ctx *ctx)
{
    const int64_t widths[2] = {32, 32};
    npagg_encoder *encoder;
    npagg_prior *prior;
    npagg_decoder *decoder;
    npagg_objective *objective;
    npagg_model *model;
    OK(npagg_encoder_create_mlp(ctx, 1, 1, D, 2, widths, &encoder));
    OK(npagg_prior_create_gaussian(ctx, D, &prior));
    OK(npagg_decoder_create_mlp(ctx, 1, 1, D, 2, widths, &decoder));
    OK(npagg_objective_create(ctx, NPAGG_OBJECTIVE_IWAE, &objective));
    OK(npagg_objective_set_samples(objective, SAMPLES));
    OK(npagg_model_create(ctx, encoder, prior, NULL, decoder, objective, &model));
    npagg_objective_destroy(objective);
    npagg_decoder_destroy(decoder);
    npagg_prior_destroy(prior);
    npagg_encoder_destroy(encoder);
    return model;
}

int main(void)
{
    static float x[TASKS * POINTS], y[TASKS * POINTS], noise[TASKS * SAMPLES * D];
    float loss[TASKS], dloss[TASKS], mean = 0;
    int64_t offsets[TASKS + 1] = {0}, n_ctx[TASKS];
    npagg_ctx *ctx;
    if (npagg_ctx_create(&ctx) != NPAGG_OK)
        return 1;
    npagg_model *model = create_model(ctx);
    const int64_t p = npagg_model_param_count(model);
    const int64_t from = npagg_model_param_offset(model, "prior"); /* stays at N(0, I) */
    const int64_t to = npagg_model_param_offset(model, "decoder");
    float *params = calloc((size_t)p * 4, sizeof(float));
    if (!params)
        return 1;
    float *grad = params + p, *m = grad + p, *v = m + p;
    for (int b = 0; b < TASKS; b++) {
        offsets[b + 1] = (b + 1) * POINTS;
        n_ctx[b] = CONTEXT;
        dloss[b] = 1.0f / TASKS;
    }
    OK(npagg_model_init_params_f32(ctx, model, 0, params));
    for (int t = 1; t <= STEPS; t++) {
        draw_tasks((uint64_t)t, x, y);
        npagg_noise_fill_f32(2, (uint64_t)t, TASKS * SAMPLES * D, noise);
        for (int64_t i = 0; i < p; i++)
            grad[i] = 0;
        OK(npagg_model_step_f32(ctx, model, params, TASKS, offsets, n_ctx, x, y, noise, NULL, dloss,
                                loss, grad));
        adam(p, from, to, params, grad, m, v, t);
        for (int b = 0; b < TASKS; b++)
            mean += loss[b] / TASKS / 100;
        if (t % 100 == 0) {
            printf("step %4d  loss %7.4f\n", t, mean);
            mean = 0;
        }
    }
    OK(npagg_model_save_f32(ctx, model, params, "train_min.safetensors"));
    free(params);
    npagg_model_destroy(model);
    npagg_ctx_destroy(ctx);
    return 0;
}
