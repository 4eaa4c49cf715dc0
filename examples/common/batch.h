/* Tasks side by side, as npagg_model_step wants them, and where they come from. */
#ifndef BATCH_H
#define BATCH_H

#include <stdint.h>

/*
 * Task b owns rows offsets[b] .. offsets[b+1]-1 of x [N,X] and y [N,Y], first its n_ctx[b] context
 * points, then its targets.
 */
typedef struct {
    int64_t tasks, room;              /* tasks in it, and that it has room for */
    int64_t x_dim, y_dim, max_points; /* max_points of one task: what there is room for */
    int64_t *offsets, *n_ctx;         /* [tasks+1], [tasks] */
    float *x, *y;
} batch;

/*
 * Where tasks come from. Both functions are functions of their arguments alone.
 *
 * draw fills batch number `index` of `seed`. corrupt disturbs its context values to this level; the
 * same (seed, index) has the same disturbance, scaled by the level. A source of `count` tasks, each
 * once, has fewer in its last batch; count 0: it never ends.
 */
typedef struct {
    const void *self;
    int64_t x_dim, y_dim, max_points, count;
    int clean_truth; /* predictions for context points are held against values before corruption */
    void (*draw)(const void *self, uint64_t seed, uint64_t index, batch *out);
    void (*corrupt)(const void *self, uint64_t seed, uint64_t index, double level, batch *out);
} task_source;

/* Room for that many tasks of this source. */
batch *batch_create(const task_source *source, int64_t tasks);
void batch_destroy(batch *b);

/* Every task has n_ctx context points and n_tgt targets. */
void batch_set_sizes(batch *b, int64_t n_ctx, int64_t n_tgt);

/* ctx_offsets [tasks+1], xc, yc: the context points alone. */
void batch_gather_context(const batch *b, int64_t *ctx_offsets, float *xc, float *yc);

#endif /* BATCH_H */
