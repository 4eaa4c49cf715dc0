#include "simulated.h"

#include <stdlib.h>

#include "complain.h"
#include "keyed.h"

static void draw_sizes(uint64_t seed, uint64_t index, batch *out)
{
    double u[2];
    key_uniform(seed, KEY_SIZES, index, 2, u);
    const int64_t n_ctx = key_integer(u[0], SIMULATED_MIN, SIMULATED_MAX_CONTEXT);
    const int64_t n_tgt = key_integer(u[1], SIMULATED_MIN, SIMULATED_POINTS - n_ctx);
    batch_set_sizes(out, n_ctx, n_tgt);
}

static void draw_batch(const void *self, uint64_t seed, uint64_t index, batch *out)
{
    const simulated *s = self;
    double work[SIMULATED_POINTS * SIMULATED_POINTS];
    draw_sizes(seed, index, out);
    const int64_t n = out->offsets[1], rows = out->offsets[out->tasks];
    double *u = take((size_t)(2 * out->tasks), sizeof *u);
    key_uniform(seed, KEY_FUNCTION, index, 2 * out->tasks, u);
    double *noise = take((size_t)rows, sizeof *noise);
    key_uniform(seed, KEY_PLACES, index, rows, noise);
    for (int64_t i = 0; i < rows; i++)
        out->x[i] = (float)(4 * noise[i] - 2);
    key_normal(seed, KEY_VALUES, index, rows, noise);
    for (int64_t b = 0; b < out->tasks; b++) {
        const gp_kernel kernel = gp_kernel_draw(s->kind, u[2 * b], u[2 * b + 1]);
        gp_draw(&kernel, n, out->x + b * n, noise + b * n, work, out->y + b * n);
    }
    free(noise);
    free(u);
}

void corrupt_context(const void *self, uint64_t seed, uint64_t index, double level, batch *out)
{
    const int64_t n = out->offsets[out->tasks] * out->y_dim;
    double *u = take((size_t)(2 * n), sizeof *u);
    (void)self;
    key_uniform(seed, KEY_OUTLIERS, index, 2 * n, u);
    for (int64_t b = 0; b < out->tasks; b++) {
        const int64_t from = out->offsets[b];
        for (int64_t i = from * out->y_dim; i < (from + out->n_ctx[b]) * out->y_dim; i++)
            out->y[i] += (float)(level * key_student(2.1, u[2 * i], u[2 * i + 1]));
    }
    free(u);
}

task_source simulated_source(const simulated *self)
{
    return (task_source){.self = self,
                         .x_dim = 1,
                         .y_dim = 1,
                         .max_points = SIMULATED_POINTS,
                         .draw = draw_batch,
                         .corrupt = corrupt_context};
}
