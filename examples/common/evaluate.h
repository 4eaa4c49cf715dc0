/*
 * How well a model predicts, by the paper's definitions.
 *
 * z ~ q(z | context), S samples a task; the log-likelihood of a point is log mean_s p(y | x, z_s),
 * averaged over the points of a task and then over tasks (tasks of one batch have one size, so this
 * is the average over the points of a batch, then over batches). The error is that of the
 * predictive mean over samples; its root is taken per batch, of the mean of squares over all points
 * of the batch, and averaged over batches. Context and target points apart; context points are
 * compared with the values that the model was given, corrupted or not, unless the source says that
 * they are with clean ones.
 */
#ifndef EVALUATE_H
#define EVALUATE_H

#include "batch.h"
#include "network.h"

typedef struct {
    int64_t tasks, batches, batch_size;
    int whole;                   /* 1: a signal to stop does not cut it short; 0 at first */
    double *ctx_ll, *tgt_ll;     /* [tasks], per point */
    double *ctx_rmse, *tgt_rmse; /* [batches] */
    int32_t *n_ctx, *n_tgt;      /* [tasks] */
} scores;

typedef struct {
    double mean, error; /* standard error of the mean; NAN for one number */
} average;

/* Room for at least `tasks` of the source in whole batches, or for all it has; tasks 0: all. */
void scores_create(const task_source *source, int64_t tasks, int64_t batch_size, scores *out);
void scores_destroy(scores *s);

/* Tasks 0, 1, ... of the seed at this level of corruption. title: of the progress, NULL for none.
 * 0, or -1 after a complaint. After a signal to stop the scores are those of some tasks only, unless
 * they are to be whole. */
int evaluate(npagg_ctx *ctx, const network *net, const float *params, const task_source *source,
             uint64_t seed, double level, int64_t n_samples, const char *title, scores *out);

/* Of x [n], or of x - y if y is not NULL. */
average average_of(int64_t n, const double *x, const double *y);

#endif /* EVALUATE_H */
