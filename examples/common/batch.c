#include "batch.h"

#include <stdlib.h>
#include <string.h>

#include "complain.h"

batch *batch_create(const task_source *source, int64_t tasks)
{
    batch *b = take(1, sizeof *b);
    const size_t points = (size_t)(tasks * source->max_points);
    b->tasks = b->room = tasks;
    b->x_dim = source->x_dim;
    b->y_dim = source->y_dim;
    b->max_points = source->max_points;
    b->offsets = take((size_t)tasks + 1, sizeof *b->offsets);
    b->n_ctx = take((size_t)tasks, sizeof *b->n_ctx);
    b->x = take(points * (size_t)b->x_dim, sizeof *b->x);
    b->y = take(points * (size_t)b->y_dim, sizeof *b->y);
    return b;
}

void batch_destroy(batch *b)
{
    if (!b)
        return;
    free(b->offsets);
    free(b->n_ctx);
    free(b->x);
    free(b->y);
    free(b);
}

void batch_set_sizes(batch *b, int64_t n_ctx, int64_t n_tgt)
{
    b->offsets[0] = 0;
    for (int64_t i = 0; i < b->tasks; i++) {
        b->offsets[i + 1] = (i + 1) * (n_ctx + n_tgt);
        b->n_ctx[i] = n_ctx;
    }
}

void batch_gather_context(const batch *b, int64_t *ctx_offsets, float *xc, float *yc)
{
    ctx_offsets[0] = 0;
    for (int64_t i = 0; i < b->tasks; i++) {
        const int64_t from = b->offsets[i], to = ctx_offsets[i], n = b->n_ctx[i];
        memcpy(xc + to * b->x_dim, b->x + from * b->x_dim, (size_t)(n * b->x_dim) * sizeof *xc);
        memcpy(yc + to * b->y_dim, b->y + from * b->y_dim, (size_t)(n * b->y_dim) * sizeof *yc);
        ctx_offsets[i + 1] = to + n;
    }
}
