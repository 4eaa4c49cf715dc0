#include "sweeps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "keyed.h"
#include "output_file.h"
#include "report.h"
#include "stopping.h"
#include "trainer.h"

/* Contexts of a batch as factors, in double, and the bound after each sweep. */
typedef struct {
    int64_t sweeps, d;
    batch *tasks;
    int64_t *offsets;
    float *xc, *yc, *m32, *v32;
    double *m, *v, *q, *logz, *params, *trace;
    double *bound; /* [sweeps] sum over tasks */
    int64_t falls; /* tasks and sweeps where it fell */
} bounds;

static void create_bounds(const saved_model *m, const view *v, int64_t sweeps, bounds *out)
{
    const settings *s = &m->s;
    const size_t rows = (size_t)(s->batch * v->source.max_points), n = rows * (size_t)s->latent;
    memset(out, 0, sizeof *out);
    out->sweeps = sweeps;
    out->d = s->latent;
    out->tasks = batch_create(&v->source, s->batch);
    out->offsets = take((size_t)s->batch + 1, sizeof(int64_t));
    out->xc = take(rows * (size_t)s->x_dim, sizeof(float));
    out->yc = take(rows * (size_t)s->y_dim, sizeof(float));
    out->m32 = take(n, sizeof(float));
    out->v32 = take(n, sizeof(float));
    out->m = take(n, sizeof(double));
    out->v = take(n, sizeof(double));
    out->q = take((size_t)(s->batch * npagg_prior_posterior_count(m->net.prior)), sizeof(double));
    out->logz = take((size_t)s->batch, sizeof(double));
    out->params = take((size_t)npagg_prior_param_count(m->net.prior), sizeof(double));
    out->trace = take((size_t)sweeps, sizeof(double));
    out->bound = take((size_t)sweeps, sizeof(double));
}

static void destroy_bounds(bounds *w)
{
    batch_destroy(w->tasks);
    free(w->offsets);
    free(w->xc);
    free(w->yc);
    free(w->m32);
    free(w->v32);
    free(w->m);
    free(w->v);
    free(w->q);
    free(w->logz);
    free(w->params);
    free(w->trace);
    free(w->bound);
}

/* Factors of the contexts, in double from there on: the bound is near 1e4, its last steps small. */
static npagg_status encode_contexts(npagg_ctx *ctx, const saved_model *m, bounds *w)
{
    const float *params = m->state.params + npagg_model_param_offset(m->net.model, "encoder");
    batch_gather_context(w->tasks, w->offsets, w->xc, w->yc);
    const int64_t n = w->offsets[w->tasks->tasks] * w->d;
    npagg_status status = npagg_encoder_forward_f32(ctx, m->net.encoder, params, w->tasks->tasks,
                                                    w->offsets, w->xc, w->yc, w->m32, w->v32, NULL);
    for (int64_t i = 0; !status && i < n; i++) {
        w->m[i] = (double)w->m32[i];
        w->v[i] = (double)w->v32[i];
    }
    return status;
}

/* Adds the trace of every task; a bound may fall by rounding only. */
static npagg_status add_traces(npagg_ctx *ctx, const npagg_cache *cache, bounds *w)
{
    for (int64_t b = 0; b < w->tasks->tasks; b++) {
        npagg_status status = npagg_infer_trace(ctx, cache, b, w->trace);
        if (status)
            return status;
        for (int64_t t = 0; t < w->sweeps; t++) {
            const double before = w->trace[t > 0 ? t - 1 : 0];
            w->bound[t] += w->trace[t];
            w->falls += before - w->trace[t] > 1e-12 * (1 + fabs(before));
        }
    }
    return NPAGG_OK;
}

static npagg_status trace_batch(npagg_ctx *ctx, const saved_model *m, const npagg_vmp *vmp,
                                npagg_cache *cache, bounds *w)
{
    npagg_status status = encode_contexts(ctx, m, w);
    if (!status)
        status = npagg_infer_forward_f64(ctx, m->net.prior, vmp, w->params, w->tasks->tasks,
                                         w->offsets, w->m, w->v, NULL, w->q, w->logz, cache);
    return status ? status : add_traces(ctx, cache, w);
}

/* The tasks that `of` has room for. */
static npagg_status trace_tasks(npagg_ctx *ctx, const saved_model *m, const view *v,
                                const scores *of, const npagg_vmp *vmp, npagg_cache *cache,
                                bounds *w)
{
    const task_source *source = &v->source;
    const uint64_t seed = key_seed((uint64_t)m->s.eval_seed, KEY_TEST);
    const float *prior = m->state.params + m->net.prior_from;
    npagg_status status = NPAGG_OK;
    for (int64_t i = 0; i < npagg_prior_param_count(m->net.prior); i++)
        w->params[i] = (double)prior[i];
    for (int64_t i = 0; i < of->batches && !status && !stopping_signal(); i++) {
        source->draw(source->self, seed, (uint64_t)i, w->tasks);
        if (v->level > 0)
            source->corrupt(source->self, seed, (uint64_t)i, v->level, w->tasks);
        status = trace_batch(ctx, m, vmp, cache, w);
    }
    for (int64_t t = 0; t < w->sweeps; t++)
        w->bound[t] /= (double)of->tasks;
    return status;
}

static int trace_model(npagg_ctx *ctx, const saved_model *m, const view *v, const scores *of,
                       bounds *w)
{
    npagg_vmp *vmp = NULL;
    npagg_cache *cache = NULL;
    npagg_status status = npagg_vmp_create(ctx, &vmp);
    if (!status)
        status = npagg_vmp_set_max_iters(vmp, (int32_t)w->sweeps);
    if (!status)
        status = npagg_cache_create(ctx, &cache);
    if (!status)
        status = trace_tasks(ctx, m, v, of, vmp, cache, w);
    npagg_cache_destroy(cache);
    npagg_vmp_destroy(vmp);
    return status ? complain("the bound failed: %s", npagg_ctx_error(ctx)) : 0;
}

/* The figures of evaluate.h with this many sweeps. */
static int evaluate_sweeps(npagg_ctx *ctx, const saved_model *m, const view *v, int64_t sweeps,
                           scores *out)
{
    network net;
    settings s = m->s;
    char title[64];
    s.vmp_steps = sweeps;
    if (network_create(ctx, &s, &net))
        return -1;
    snprintf(title, sizeof title, "%s, %lld sweeps:", model_words[s.model], (long long)sweeps);
    const int status = evaluate(ctx, &net, m->state.params, &v->source, (uint64_t)s.eval_seed,
                                v->level, s.eval_samples, s.quiet ? NULL : title, out);
    network_destroy(&net);
    return status;
}

static void write_sweep(const saved_model *m, const view *v, int64_t sweeps, double bound,
                        const figures *f, FILE *table)
{
    char word[24];
    settings_model_name(&m->s, word, sizeof word);
    fprintf(table, "%s,%s,%lld,%g,%lld,%.9g", word, m->views.data, (long long)m->s.seed, v->shown,
            (long long)sweeps, bound);
    report_write_average(table, f->ctx_ll);
    report_write_average(table, f->tgt_ll);
    report_write_average(table, f->tgt_rmse);
    if (v->group)
        fprintf(table, ",%s,%g,%s", v->group, v->level, report_corruption(&m->views, v));
    fputc('\n', table);
}

static void print_sweep(const saved_model *m, const view *v, int64_t sweeps, double bound,
                        const figures *f)
{
    char word[24];
    settings_model_name(&m->s, word, sizeof word);
    if (v->group)
        printf("%-6s  ", v->group);
    printf("%6lld  %-6s  %12.4f", (long long)sweeps, word, bound);
    report_average(f->ctx_ll);
    report_average(f->tgt_ll);
    report_average(f->tgt_rmse);
    printf("\n");
}

/* One sweep is all that ba and mba have. */
static int sweep_view(npagg_ctx *ctx, const saved_model *m, const view *v, FILE *table)
{
    const int robust = model_is_robust(m->s.model);
    const int64_t sweeps = robust ? m->s.sweeps : 1;
    bounds w;
    scores at;
    create_bounds(m, v, sweeps, &w);
    scores_create(&v->source, m->s.tasks, m->s.batch, &at);
    int bad = trace_model(ctx, m, v, &at, &w);
    for (int64_t t = 1; t <= sweeps && !bad && !stopping_signal(); t++) {
        bad = evaluate_sweeps(ctx, m, v, t, &at);
        const figures f = figures_of(&at);
        if (bad || stopping_signal())
            break;
        print_sweep(m, v, t, w.bound[t - 1], &f);
        if (table)
            write_sweep(m, v, t, w.bound[t - 1], &f, table);
    }
    if (!bad && robust)
        printf("the bound fell in %lld of %lld sweeps\n", (long long)w.falls,
               (long long)(at.tasks * (sweeps - 1)));
    scores_destroy(&at);
    destroy_bounds(&w);
    return bad ? EXIT_FAILED : stopping_signal() ? stopping_status(stopping_signal()) : EXIT_DONE;
}

static int ends_group(const view_list *views, int i)
{
    return i + 1 == views->count ||
           (views->at[i].group && strcmp(views->at[i].group, views->at[i + 1].group));
}

/* The last level of every group. */
static int sweep_model(npagg_ctx *ctx, const saved_model *m, FILE *table)
{
    int status = EXIT_DONE;
    for (int i = 0; i < m->views.count && !status; i++)
        if (ends_group(&m->views, i))
            status = sweep_view(ctx, m, &m->views.at[i], table);
    return status;
}

/* The heads of both tables, which a model's views decide on. */
static void print_heads(const view_list *views, FILE *table)
{
    const int groups = views->at[0].group != NULL;
    printf("%ssweeps  model   bound (mean)  context log-lik.  target log-lik.   target RMSE\n",
           groups ? "tasks   " : "");
    if (table)
        fprintf(table,
                "model,data,seed,%s,vmp_steps,bound,ctx_ll,ctx_ll_se,tgt_ll,tgt_ll_se,tgt_rmse,"
                "tgt_rmse_se%s\n",
                views->quantity, groups ? ",group,level,corruption" : "");
}

/* Baselines have no sweeps, which is said before anything is computed. */
static int check_sweeps(const examiner *e, const char *file)
{
    saved_model m;
    const int status = saved_load(e, file, &m);
    if (status)
        return status;
    const int pooled = model_is_pooled(m.s.model);
    if (pooled)
        complain("%s: %s has no sweeps", file, model_words[m.s.model]);
    saved_destroy(&m);
    return pooled ? EXIT_USAGE : EXIT_DONE;
}

static int sweep_file(const examiner *e, const char *file, int first, FILE **table)
{
    saved_model m;
    int status = saved_load(e, file, &m);
    if (status)
        return status;
    if (first && e->s->table && !(*table = output_open(e->s->table)))
        status = EXIT_FAILED;
    if (!status && first)
        print_heads(&m.views, *table);
    if (!status)
        status = sweep_model(e->ctx, &m, *table);
    saved_destroy(&m);
    return status;
}

int sweeps_run(const examiner *e, int n, const char **files)
{
    FILE *table = NULL;
    int status = EXIT_DONE;
    for (int i = 0; i < n && !status; i++)
        status = check_sweeps(e, files[i]);
    for (int i = 0; i < n && !status; i++)
        status = sweep_file(e, files[i], i == 0, &table);
    if (table && output_close(table, e->s->table) && !status)
        status = EXIT_FAILED;
    return status;
}
