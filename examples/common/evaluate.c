#include "evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "keyed.h"
#include "predictor.h"
#include "progress.h"
#include "stopping.h"

/* Arrays for one batch after the other. */
typedef struct {
    batch *tasks;
    predictor predict;
    int64_t *ctx_offsets;
    float *xc, *yc, *truth, *mean, *loglik;
} bench;

void scores_create(const task_source *source, int64_t tasks, int64_t batch_size, scores *out)
{
    const int64_t count = source->count;
    if (count && (tasks == 0 || tasks > count))
        tasks = count;
    out->whole = 0;
    out->batch_size = batch_size;
    out->batches = (tasks + batch_size - 1) / batch_size;
    out->tasks = out->batches * batch_size;
    if (count && out->tasks > count)
        out->tasks = count;
    out->ctx_ll = take((size_t)out->tasks, sizeof(double));
    out->tgt_ll = take((size_t)out->tasks, sizeof(double));
    out->ctx_rmse = take((size_t)out->batches, sizeof(double));
    out->tgt_rmse = take((size_t)out->batches, sizeof(double));
    out->n_ctx = take((size_t)out->tasks, sizeof(int32_t));
    out->n_tgt = take((size_t)out->tasks, sizeof(int32_t));
}

void scores_destroy(scores *s)
{
    free(s->ctx_ll);
    free(s->tgt_ll);
    free(s->ctx_rmse);
    free(s->tgt_rmse);
    free(s->n_ctx);
    free(s->n_tgt);
    memset(s, 0, sizeof *s);
}

static void create_bench(const network *net, const task_source *source, int64_t tasks,
                         int64_t n_samples, bench *out)
{
    const size_t points = (size_t)(tasks * source->max_points);
    out->tasks = batch_create(source, tasks);
    predictor_create(net, tasks, n_samples, &out->predict);
    out->ctx_offsets = take((size_t)tasks + 1, sizeof(int64_t));
    out->xc = take(points * (size_t)source->x_dim, sizeof(float));
    out->yc = take(points * (size_t)source->y_dim, sizeof(float));
    out->truth = take(points * (size_t)source->y_dim, sizeof(float));
    out->mean = take(points * (size_t)source->y_dim, sizeof(float));
    out->loglik = take(points, sizeof(float));
}

static void destroy_bench(bench *w)
{
    batch_destroy(w->tasks);
    predictor_destroy(&w->predict);
    free(w->ctx_offsets);
    free(w->xc);
    free(w->yc);
    free(w->truth);
    free(w->mean);
    free(w->loglik);
}

/* Batch `index`, its contexts as the model sees them, and what is true at all points. */
static void draw_tasks(const task_source *source, uint64_t seed, uint64_t index, double level,
                       bench *w)
{
    batch *b = w->tasks;
    source->draw(source->self, seed, index, b);
    const size_t bytes = (size_t)(b->offsets[b->tasks] * b->y_dim) * sizeof *w->truth;
    memcpy(w->truth, b->y, bytes);
    if (level > 0)
        source->corrupt(source->self, seed, index, level, b);
    if (!source->clean_truth)
        memcpy(w->truth, b->y, bytes);
    batch_gather_context(b, w->ctx_offsets, w->xc, w->yc);
}

static npagg_status predict_batch(npagg_ctx *ctx, const network *net, const float *params,
                                  uint64_t seed, uint64_t index, bench *w)
{
    const batch *b = w->tasks;
    const question in = {b->tasks, w->ctx_offsets, b->offsets, w->xc, w->yc, b->x, w->truth};
    const answer out = {.mean = w->mean, .loglik = w->loglik};
    return predictor_run(ctx, &w->predict, net, params, seed, index, &in, &out);
}

/* Sums over rows from..to-1: log-likelihoods, squared errors. */
static void add_rows(const bench *w, int64_t from, int64_t to, double *ll, double *square)
{
    const int64_t y_dim = w->tasks->y_dim;
    for (int64_t i = from; i < to; i++)
        *ll += (double)w->loglik[i];
    for (int64_t i = from * y_dim; i < to * y_dim; i++) {
        const double e = (double)w->mean[i] - (double)w->truth[i];
        *square += e * e;
    }
}

static double root_mean(double square, int64_t points, int64_t y_dim)
{
    return points > 0 ? sqrt(square / (double)(points * y_dim)) : 0;
}

static void score_batch(const bench *w, int64_t index, scores *out)
{
    const batch *b = w->tasks;
    double ctx_square = 0, tgt_square = 0;
    int64_t ctx_points = 0, tgt_points = 0;
    for (int64_t i = 0; i < b->tasks; i++) {
        const int64_t task = index * out->batch_size + i, from = b->offsets[i],
                      to = b->offsets[i + 1];
        const int64_t middle = from + b->n_ctx[i];
        double ctx_ll = 0, tgt_ll = 0;
        add_rows(w, from, middle, &ctx_ll, &ctx_square);
        add_rows(w, middle, to, &tgt_ll, &tgt_square);
        out->ctx_ll[task] = middle > from ? ctx_ll / (double)(middle - from) : 0;
        out->tgt_ll[task] = to > middle ? tgt_ll / (double)(to - middle) : 0;
        out->n_ctx[task] = (int32_t)(middle - from);
        out->n_tgt[task] = (int32_t)(to - middle);
        ctx_points += middle - from;
        tgt_points += to - middle;
    }
    out->ctx_rmse[index] = root_mean(ctx_square, ctx_points, b->y_dim);
    out->tgt_rmse[index] = root_mean(tgt_square, tgt_points, b->y_dim);
}

int evaluate(npagg_ctx *ctx, const network *net, const float *params, const task_source *source,
             uint64_t seed, double level, int64_t n_samples, const char *title, scores *out)
{
    const uint64_t tasks_seed = key_seed(seed, KEY_TEST);
    bench w;
    progress bar;
    npagg_status status = NPAGG_OK;
    create_bench(net, source, out->batch_size, n_samples, &w);
    progress_begin(&bar, title ? title : "", "batches", 0, out->batches, !title);
    for (int64_t i = 0; i < out->batches && !status && (out->whole || !stopping_signal()); i++) {
        draw_tasks(source, tasks_seed, (uint64_t)i, level, &w);
        status = predict_batch(ctx, net, params, seed, (uint64_t)i, &w);
        if (!status)
            score_batch(&w, i, out);
        if (progress_due(&bar, i + 1))
            progress_show(&bar, i + 1, "");
    }
    if (bar.terminal && !status)
        progress_end(&bar, out->batches, "");
    destroy_bench(&w);
    return status ? complain("the prediction failed: %s", npagg_ctx_error(ctx)) : 0;
}

average average_of(int64_t n, const double *x, const double *y)
{
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] - (y ? y[i] : 0);
    const double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const double e = x[i] - (y ? y[i] : 0) - mean;
        square += e * e;
    }
    return (average){mean, n > 1 ? sqrt(square / (double)(n - 1) / (double)n) : NAN};
}
