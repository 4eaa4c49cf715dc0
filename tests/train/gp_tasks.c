#include "gp_tasks.h"

#include <math.h>
#include <npagg/npagg.h>

/* In place, lower triangle: a = L L'. */
static void cholesky(int64_t n, double *a)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            double sum = a[i * n + j];
            for (int64_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
}

/* y = L e with K = L L'. */
static void draw_function(int64_t n, double height, double length, const float *x, const double *e,
                          float *y)
{
    double k[GP_MAX_POINTS * GP_MAX_POINTS];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double d = ((double)x[i] - (double)x[j]) / length;
            k[i * n + j] = height * height * exp(-0.5 * d * d) + (i == j ? 0.02 * 0.02 : 0);
        }
    cholesky(n, k);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j <= i; j++)
            sum += k[i * n + j] * e[j];
        y[i] = (float)sum;
    }
}

void gp_batch_draw(uint64_t seed, uint64_t index, gp_batch *batch)
{
    double u[2 + 2 * GP_TASKS], e[GP_TASKS * GP_MAX_POINTS];
    npagg_uniform_fill_f64(seed, 3 * index, 2 + 2 * GP_TASKS, u);
    batch->n_ctx = 3 + (int64_t)(u[0] * 44);
    batch->n_tgt = 3 + (int64_t)(u[1] * (double)(47 - batch->n_ctx));
    const int64_t n = batch->n_ctx + batch->n_tgt;
    npagg_uniform_fill_f32(seed, 3 * index + 1, GP_TASKS * n, batch->x);
    npagg_noise_fill_f64(seed, 3 * index + 2, GP_TASKS * n, e);
    batch->offsets[0] = 0;
    for (int64_t b = 0; b < GP_TASKS; b++) {
        float *x = batch->x + b * n;
        for (int64_t i = 0; i < n; i++)
            x[i] = 4 * x[i] - 2;
        draw_function(n, 0.1 + 0.9 * u[2 + 2 * b], 0.1 + 0.5 * u[3 + 2 * b], x, e + b * n,
                      batch->y + b * n);
        batch->offsets[b + 1] = (b + 1) * n;
        batch->contexts[b] = batch->n_ctx;
    }
}
