#include "own_tasks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "keyed.h"
#include "simulated.h"

static int compare_reals(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(int64_t n, double *x)
{
    qsort(x, (size_t)n, sizeof *x, compare_reals);
    return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

static void scale_by_moments(int64_t n, const double *x, double *mid, double *unit)
{
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    *mid = sum / (double)n;
    for (int64_t i = 0; i < n; i++)
        square += (x[i] - *mid) * (x[i] - *mid);
    *unit = sqrt(square / (double)n);
}

/* The median distance is 0 if more than half of the values are the same: then the root of the mean
 * square. Changes x. */
static void scale_by_median(int64_t n, double *x, double *mid, double *unit)
{
    double square = 0;
    *mid = median(n, x);
    for (int64_t i = 0; i < n; i++) {
        x[i] = fabs(x[i] - *mid);
        square += x[i] * x[i];
    }
    *unit = 1.4826 * median(n, x);
    if (!(*unit > 0))
        *unit = sqrt(square / (double)n);
}

/* The whole range becomes [-2, 2]. Changes x. */
static void scale_by_range(int64_t n, double *x, double *mid, double *unit)
{
    qsort(x, (size_t)n, sizeof *x, compare_reals);
    *mid = (x[0] + x[n - 1]) / 2;
    *unit = (x[n - 1] - x[0]) / 4;
}

typedef void (*scaler)(int64_t n, double *x, double *mid, double *unit);

static void scale_by_mean(int64_t n, double *x, double *mid, double *unit)
{
    scale_by_moments(n, x, mid, unit);
}

/* Columns of in [points,dim], each task for itself. */
static void scale_columns(const csv_file *file, int64_t dim, const double *in, scaler by,
                          double *mid, double *unit, float *out)
{
    double *column = take((size_t)file->points, sizeof *column);
    for (int64_t t = 0; t < file->tasks; t++)
        for (int64_t j = 0; j < dim; j++) {
            const int64_t from = file->offsets[t], n = file->offsets[t + 1] - from;
            double *m = mid + t * dim + j, *u = unit + t * dim + j;
            for (int64_t i = 0; i < n; i++)
                column[i] = in[(from + i) * dim + j];
            *m = 0;
            *u = 1;
            if (by)
                by(n, column, m, u);
            if (!(*u > 0))
                *u = 1; /* all values are the same */
            for (int64_t i = 0; i < n; i++)
                out[(from + i) * dim + j] = (float)((in[(from + i) * dim + j] - *m) / *u);
        }
    free(column);
}

/* Squares of what the networks see must be floats. */
static int check_scaled(const char *path, const csv_file *file, int64_t dim, const float *x)
{
    const float most = 1e15f;
    for (int64_t t = 0; t < file->tasks; t++)
        for (int64_t i = file->offsets[t] * dim; i < file->offsets[t + 1] * dim; i++)
            if (!(fabsf(x[i]) <= most))
                return complain("%s:%lld: task \"%s\" has a value that becomes %g, want at most %g "
                                "in size: see --standardise",
                                path, (long long)file->lines[t], file->names[t], (double)x[i],
                                (double)most);
    return 0;
}

int own_tasks_load(const char *path, int scale, int64_t max_points, own_tasks *out)
{
    static const scaler scalers[] = {NULL, scale_by_mean, scale_by_median};
    csv_file *file = &out->file;
    memset(out, 0, sizeof *out);
    if (csv_file_load(path, file))
        return -1;
    out->max_points = max_points;
    out->x = take((size_t)(file->points * file->x_dim), sizeof(float));
    out->y = take((size_t)(file->points * file->y_dim), sizeof(float));
    out->x_mid = take((size_t)(file->tasks * file->x_dim), sizeof(double));
    out->x_unit = take((size_t)(file->tasks * file->x_dim), sizeof(double));
    out->y_mid = take((size_t)(file->tasks * file->y_dim), sizeof(double));
    out->y_unit = take((size_t)(file->tasks * file->y_dim), sizeof(double));
    scale_columns(file, file->x_dim, file->x, scale ? scale_by_range : NULL, out->x_mid,
                  out->x_unit, out->x);
    scale_columns(file, file->y_dim, file->y, scalers[scale], out->y_mid, out->y_unit, out->y);
    return check_scaled(path, file, file->x_dim, out->x) ||
                   check_scaled(path, file, file->y_dim, out->y)
               ? -1
               : 0;
}

void own_tasks_destroy(own_tasks *t)
{
    csv_file_destroy(&t->file);
    free(t->x);
    free(t->y);
    free(t->x_mid);
    free(t->x_unit);
    free(t->y_mid);
    free(t->y_unit);
    memset(t, 0, sizeof *t);
}

/* Task t of the file as task b of the batch; u [2 + max_points] uniform. */
static void draw_task(const own_tasks *own, int64_t t, const double *u, int64_t b, batch *out)
{
    const csv_file *file = &own->file;
    const int64_t from = file->offsets[t], n = file->offsets[t + 1] - from;
    const int64_t most = n < own->max_points ? n : own->max_points;
    const int64_t n_ctx = key_integer(u[0], SIMULATED_MIN, most - 1);
    const int64_t k = n_ctx + key_integer(u[1], 1, most - n_ctx), to = out->offsets[b];
    int64_t *order = take((size_t)n, sizeof *order);
    key_order(n, k, u + 2, order);
    for (int64_t i = 0; i < k; i++) {
        const int64_t row = from + order[i];
        memcpy(out->x + (to + i) * file->x_dim, own->x + row * file->x_dim,
               (size_t)file->x_dim * sizeof(float));
        memcpy(out->y + (to + i) * file->y_dim, own->y + row * file->y_dim,
               (size_t)file->y_dim * sizeof(float));
    }
    out->n_ctx[b] = n_ctx;
    out->offsets[b + 1] = to + k;
    free(order);
}

static void draw_batch(const void *self, uint64_t seed, uint64_t index, batch *out)
{
    const own_tasks *own = self;
    const int64_t each = 3 + own->max_points;
    double *u = take((size_t)(out->tasks * each), sizeof *u);
    key_uniform(seed, KEY_ORDER, index, out->tasks * each, u);
    out->offsets[0] = 0;
    for (int64_t b = 0; b < out->tasks; b++) {
        const int64_t t = key_integer(u[b * each], 0, own->file.tasks - 1);
        draw_task(own, t, u + b * each + 1, b, out);
    }
    free(u);
}

task_source own_tasks_source(const own_tasks *self)
{
    return (task_source){.self = self,
                         .x_dim = self->file.x_dim,
                         .y_dim = self->file.y_dim,
                         .max_points = self->max_points,
                         .draw = draw_batch,
                         .corrupt = corrupt_context};
}
