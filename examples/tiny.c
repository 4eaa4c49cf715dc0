/*
 * The tiny model that every language of bindings/ trains: on one machine all of them print the same
 * losses to the last bit.
 *
 * Data are made with + - * / of the library's random numbers, never a product that is then added to
 * something (but by a power of two), so that it does not matter whether a compiler fuses the two.
 */
#include <inttypes.h>
#include <npagg/npagg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 4, POINTS = 30, SAMPLES = 2, D = 3, STEPS = 100 };

static const int64_t offsets[TASKS + 1] = {0, 6, 13, 21, POINTS}, n_ctx[TASKS] = {3, 0, 5, 4};

static npagg_ctx *ctx;

static void try(npagg_status status)
{
    if (status == NPAGG_OK)
        return;
    fprintf(stderr, "%s: %s\n", npagg_status_name(status), npagg_ctx_error(ctx));
    exit(1);
}

/* Task b is y = a t / (1 + |t|), t = x - c, with a and c of its own, at places x in [-2, 2]. */
static void draw_tasks(double *x, double *y)
{
    double a[TASKS], c[TASKS];
    try(npagg_uniform_fill_f64(2, 0, POINTS, x));
    try(npagg_uniform_fill_f64(2, 1, TASKS, a));
    try(npagg_uniform_fill_f64(2, 2, TASKS, c));
    for (int b = 0; b < TASKS; b++) {
        for (int64_t i = offsets[b]; i < offsets[b + 1]; i++) {
            x[i] = 4 * x[i] - 2;
            const double t = x[i] - c[b];
            y[i] = (1 + a[b]) * t / (1 + (t < 0 ? -t : t));
        }
    }
}

static npagg_model *create_model(void)
{
    const int64_t width = 5;
    npagg_encoder *encoder;
    npagg_prior *prior;
    npagg_vmp *vmp;
    npagg_decoder *decoder;
    npagg_objective *objective;
    npagg_model *model;
    try(npagg_encoder_create_mlp(ctx, 1, 1, D, 1, &width, &encoder));
    try(npagg_encoder_set_activation(encoder, NPAGG_ACTIVATION_TANH));
    try(npagg_prior_create_student(ctx, D, &prior));
    try(npagg_vmp_create(ctx, &vmp));
    try(npagg_vmp_set_max_iters(vmp, 4));
    try(npagg_decoder_create_mlp(ctx, 1, 1, D, 1, &width, &decoder));
    try(npagg_decoder_set_activation(decoder, NPAGG_ACTIVATION_TANH));
    try(npagg_objective_create(ctx, NPAGG_OBJECTIVE_ELBO, &objective));
    try(npagg_objective_set_samples(objective, SAMPLES));
    try(npagg_objective_set_normalise(objective, NPAGG_NORMALISE_POINTS));
    try(npagg_model_create(ctx, encoder, prior, vmp, decoder, objective, &model));
    npagg_objective_destroy(objective);
    npagg_decoder_destroy(decoder);
    npagg_vmp_destroy(vmp);
    npagg_prior_destroy(prior);
    npagg_encoder_destroy(encoder);
    return model;
}

/* The mean over tasks, also as the sixteen digits of its bits. */
static void print_loss(int step, const double *loss)
{
    double sum = 0;
    uint64_t bits;
    for (int b = 0; b < TASKS; b++)
        sum = sum + loss[b];
    sum = sum / TASKS;
    memcpy(&bits, &sum, sizeof bits);
    printf("step %3d  loss %.6f  %016" PRIx64 "\n", step, sum, bits);
}

int main(void)
{
    const double rate = 0.015625 /* 1/64 */, dloss[TASKS] = {0.25, 0.25, 0.25, 0.25};
    double x[POINTS], y[POINTS], noise[TASKS * SAMPLES * D], loss[TASKS];
    if (npagg_ctx_create(&ctx) != NPAGG_OK)
        return 1;
    npagg_model *model = create_model();
    const int64_t p = npagg_model_param_count(model);
    double *params = malloc((size_t)p * sizeof *params), *grad = malloc((size_t)p * sizeof *grad);
    if (!params || !grad)
        return 1;
    draw_tasks(x, y);
    try(npagg_model_init_params_f64(ctx, model, 1, params));
    for (int step = 1; step <= STEPS; step++) {
        memset(grad, 0, (size_t)p * sizeof *grad);
        try(npagg_noise_fill_f64(3, (uint64_t)step, TASKS * SAMPLES * D, noise));
        try(npagg_model_step_f64(ctx, model, params, TASKS, offsets, n_ctx, x, y, noise, NULL,
                                 dloss, loss, grad));
        for (int64_t i = 0; i < p; i++)
            params[i] = params[i] - rate * grad[i];
        if (step == 1 || step % 10 == 0)
            print_loss(step, loss);
    }
    free(grad);
    free(params);
    npagg_model_destroy(model);
    npagg_ctx_destroy(ctx);
    return 0;
}
