/*
 * Aggregation alone: forward, and backward to m, v and the prior's parameters. Gradients add to
 * what is there, as the library does it: dm and dv are read and written.
 */
#include <stdlib.h>

#include "work.h"

typedef struct infer_work {
    work base; /* first: a work * points here too */
    npagg_prior *prior;
    npagg_vmp *vmp;
    npagg_cache *cache;
    int64_t n, p, q_count;
    int64_t *offsets;             /* [B+1] */
    float *params, *dparams;      /* [P] */
    float *m, *v, *dm, *dv;       /* [N,D] */
    float *q, *dq, *logz, *dlogz; /* [B,Q], [B]; dlogz only with logz */
} infer_work;

static void run_forward(infer_work *w, npagg_cache *cache)
{
    float *logz = w->base.row.part == ROW_LOGZ ? w->logz : NULL;
    work_check(w->base.ctx,
               npagg_infer_forward_f32(w->base.ctx, w->prior, w->vmp, w->params, w->base.row.sets,
                                       w->offsets, w->m, w->v, NULL, w->q, logz, cache));
}

static void run_backward(infer_work *w)
{
    const float *dlogz = w->base.row.part == ROW_LOGZ ? w->dlogz : NULL;
    work_check(w->base.ctx,
               npagg_infer_backward_f32(w->base.ctx, w->prior, w->vmp, w->params, w->base.row.sets,
                                        w->offsets, w->m, w->v, NULL, w->dq, dlogz, w->dparams,
                                        w->dm, w->dv, NULL, w->cache));
}

static int has_backward(const row *r)
{
    return r->part == ROW_BOTH || r->part == ROW_LOGZ;
}

static void run_infer(work *base)
{
    infer_work *w = (infer_work *)base;
    run_forward(w, w->cache);
    if (w->cache)
        run_backward(w);
}

/* Nothing of a run changes the next one but the sums in dm, dv, which stay finite. */
static void begin_infer(work *base)
{
    (void)base;
}

static void dump_infer(const work *base, const char *folder)
{
    const infer_work *w = (const infer_work *)base;
    const int64_t b = base->row.sets, nd = w->n * base->row.d;
    work_write(folder, "params", w->params, w->p);
    work_write(folder, "m", w->m, nd);
    work_write(folder, "v", w->v, nd);
    work_write(folder, "dq", w->dq, b * w->q_count);
    work_write(folder, "q", w->q, b * w->q_count);
    if (!w->cache)
        return;
    work_write(folder, "dm", w->dm, nd);
    work_write(folder, "dv", w->dv, nd);
    work_write(folder, "dparams", w->dparams, w->p);
    if (base->row.part == ROW_LOGZ) {
        work_write(folder, "logz", w->logz, b);
        work_write(folder, "dlogz", w->dlogz, b);
    }
}

static void destroy_infer(work *base)
{
    infer_work *w = (infer_work *)base;
    float *array[] = {w->params, w->dparams, w->m,  w->v,    w->dm,
                      w->dv,     w->q,       w->dq, w->logz, w->dlogz};
    for (size_t i = 0; i < sizeof array / sizeof array[0]; i++)
        free(array[i]);
    free(w->offsets);
    npagg_cache_destroy(w->cache);
    npagg_vmp_destroy(w->vmp);
    npagg_prior_destroy(w->prior);
    npagg_ctx_destroy(base->ctx);
    free(w);
}

static void create_shapes(infer_work *w, const row *r)
{
    npagg_ctx *ctx = w->base.ctx;
    work_check(ctx, r->prior == ROW_BA ? npagg_prior_create_gaussian(ctx, r->d, &w->prior)
                    : r->prior == ROW_MBA
                        ? npagg_prior_create_mixture(ctx, r->d, r->count, &w->prior)
                        : npagg_prior_create_student(ctx, r->d, &w->prior));
    work_check(ctx, npagg_vmp_create(ctx, &w->vmp));
    if (r->prior == ROW_RBA)
        work_check(ctx, npagg_vmp_set_max_iters(w->vmp, (int32_t)r->count));
    work_check(ctx, npagg_vmp_set_weights(w->vmp, 0)); /* the peer does not compute them either */
    if (has_backward(r))
        work_check(ctx, npagg_cache_create(ctx, &w->cache));
}

static void create_small_arrays(infer_work *w, const row *r)
{
    w->p = npagg_prior_param_count(w->prior);
    w->q_count = npagg_prior_posterior_count(w->prior);
    w->params = work_array(w->p, sizeof(float));
    w->dparams = work_array(w->p, sizeof(float));
    w->q = work_array(r->sets * w->q_count, sizeof(float));
    w->dq = work_array(r->sets * w->q_count, sizeof(float));
    w->logz = work_array(r->sets, sizeof(float));
    w->dlogz = work_array(r->sets, sizeof(float));
    w->offsets = work_array(r->sets + 1, sizeof(int64_t));
    work_check(w->base.ctx, npagg_prior_init_params_f32(w->base.ctx, w->prior, 1, w->params));
    work_fill_normal(2, r->sets * w->q_count, w->dq);
    work_fill_normal(3, r->sets, w->dlogz);
    for (int64_t b = 0; b <= r->sets; b++)
        w->offsets[b] = b * r->points;
}

static void create_rows(infer_work *w, const row *r)
{
    const int64_t nd = w->n * r->d;
    w->m = work_array(nd, sizeof(float));
    w->v = work_array(nd, sizeof(float));
    work_fill_normal(0, nd, w->m);
    work_fill_uniform(1, nd, 0.05f, 1.0f, w->v);
    w->base.array_bytes = 2 * sizeof(float) * (size_t)nd;
    if (!has_backward(r))
        return;
    w->dm = work_array(nd, sizeof(float));
    w->dv = work_array(nd, sizeof(float));
    w->base.array_bytes *= 2;
}

work *work_create_infer(const row *r, int32_t threads)
{
    infer_work *w = work_array(1, sizeof *w);
    w->base = (work){.row = *r,
                     .run = run_infer,
                     .begin = begin_infer,
                     .dump = dump_infer,
                     .destroy = destroy_infer};
    w->n = r->sets * r->points;
    work_check(NULL, npagg_ctx_create(&w->base.ctx));
    work_check(w->base.ctx, npagg_ctx_set_threads(w->base.ctx, threads));
    create_shapes(w, r);
    create_small_arrays(w, r);
    create_rows(w, r);
    return &w->base;
}
