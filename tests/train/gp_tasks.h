/* Functions drawn from a Gaussian process, as the 1-D experiments of the paper use them. */
#ifndef GP_TASKS_H
#define GP_TASKS_H

#include <stdint.h>

enum { GP_TASKS = 16, GP_MAX_POINTS = 49 };

/* A batch: every task has n_ctx + n_tgt points. */
typedef struct {
    int64_t n_ctx, n_tgt;
    int64_t offsets[GP_TASKS + 1], contexts[GP_TASKS];
    float x[GP_TASKS * GP_MAX_POINTS], y[GP_TASKS * GP_MAX_POINTS];
} gp_batch;

/*
 * Batch number `index` of the seed: x uniform in [-2, 2]; kernel s^2 exp(-d^2 / 2 l^2) with s in
 * [0.1, 1) and l in [0.1, 0.6) per task, plus 0.02^2; context size uniform in 3..46, targets
 * in 3..49 - context.
 */
void gp_batch_draw(uint64_t seed, uint64_t index, gp_batch *batch);

#endif /* GP_TASKS_H */
