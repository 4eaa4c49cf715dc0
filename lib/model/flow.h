/*
 * One batch on its way through a model: the arrays between its stages, and the same five steps down
 * and up.
 *
 * Points are the rows that p(y|x,z) is over: all of them, or the targets gathered into arrays of
 * their own.
 */
#ifndef NP_FLOW_H
#define NP_FLOW_H

#include "base/cache.h"
#include "model/model.h"
#include "vmp/call.h"

typedef struct NP_REAL(np_flow) {
    /* the call */
    npagg_ctx *ctx;
    const npagg_model *model;
    const real *params;
    int64_t n_sets, n;
    const int64_t *offsets, *n_ctx;
    const real *x, *y, *noise;
    const int32_t *which;
    npagg_cache *encoded, *context, *all, *decoded; /* children of the cache */

    /* kept from forward to backward */
    int64_t n_points;
    npagg_model *shape;          /* the model as it was, for comparison */
    int64_t *begin;              /* [B+1]: offsets again, for comparison */
    int64_t *split;              /* [B+1]: where the targets of each set begin; the last is N */
    int64_t *point_offsets;      /* [B+1] */
    real *m, *v;                 /* [N,D]; of an encoder of sets [B,D] of C, [B,D] of CT */
    real *q_c, *q_ct;            /* [B,Q] */
    real *logz_c, *logz_ct;      /* [B] */
    real *mean, *var;            /* [B,D] of q_CT, for the KL divergence by the evidences */
    real *z, *logw;              /* [B,S,D], [B,S] */
    real *logq_c, *logq_ct;      /* [B,S] */
    real *kl;                    /* [B] */
    double *overlap;             /* [B] */
    real *x_targets, *y_targets; /* [points,X], [points,Y]: NULL if the points are all rows */
    real *py, *loglik;           /* [points,S,2Y], [points,S] */
    double *worth;               /* [B,3,S]: log w, log p, log q_C - log q_CT */
    real *loss;                  /* [B] */
} NP_REAL(np_flow);
#define np_flow NP_REAL(np_flow)

/* What the objective needs. */
static inline int NP_REAL(np_flow_needs_all)(const npagg_model *model)
{
    return model->objective.kind != NPAGG_OBJECTIVE_ML;
}

static inline int NP_REAL(np_flow_needs_ratio)(const npagg_model *model)
{
    return model->objective.kind == NPAGG_OBJECTIVE_IWAE;
}

static inline int NP_REAL(np_flow_needs_kl)(const npagg_model *model)
{
    return model->objective.kind == NPAGG_OBJECTIVE_ELBO ||
           model->objective.kind == NPAGG_OBJECTIVE_ELBO_CLOSED;
}

static inline int NP_REAL(np_flow_needs_evidence)(const npagg_model *model)
{
    return NP_REAL(np_flow_needs_kl)(model) && model->kl == NP_KL_EVIDENCE;
}

/* Rows of m and v. */
int64_t NP_REAL(np_flow_factors)(const np_flow *flow);

/* The points of set b, for normalisation; at least 1. */
double NP_REAL(np_flow_divisor)(const np_flow *flow, int64_t b);

/* A run of inference over the first rows of each set (the context) or over all. */
np_run NP_REAL(np_flow_infer)(const np_flow *flow, int all);

/* A task's worth. */
np_worth NP_REAL(np_flow_worth)(const np_flow *flow, int64_t b);

/* x and y of the points, and their sets. */
const real *NP_REAL(np_flow_x)(const np_flow *flow);
const real *NP_REAL(np_flow_y)(const np_flow *flow);

/* Checks what forward and backward are given; *n is N. */
npagg_status NP_REAL(np_flow_check)(const np_flow *flow, int64_t *n);

/* Room for a forward in the cache, of so many bytes; children and sets laid out. */
npagg_status NP_REAL(np_flow_begin)(const np_flow *call, npagg_cache *cache, np_flow *out,
                                    size_t *bytes);

/* m, v and q_C, q_CT in one, of an encoder of sets. */
npagg_status NP_REAL(np_flow_encode_sets)(const np_flow *f);

/* q [n,2D] = [m, v], both [n,D]. */
void NP_REAL(np_flow_join)(int64_t n, int64_t d, const real *m, const real *v, real *q);

/* As far as z and its densities, with the points gathered. */
npagg_status NP_REAL(np_flow_sampled)(const np_flow *f);

/* The loss of task b from the log-likelihoods of its points. */
void NP_REAL(np_flow_value)(const np_flow *f, int64_t b);

/* Forward from checked arguments; loss [B] may be NULL, what backward needs is in the cache. */
npagg_status NP_REAL(np_flow_forward)(const np_flow *call, real *loss, npagg_cache *cache);

/* loss [B] of the forward that filled the cache. */
void NP_REAL(np_flow_losses)(const npagg_cache *cache, real *loss);

/* dparams += for a call whose forward filled the cache. */
npagg_status NP_REAL(np_flow_backward)(const np_flow *call, const real *dloss, real *dparams,
                                       npagg_cache *cache);

/* Both at once from checked arguments; in the cache is room only. */
npagg_status NP_REAL(np_flow_step)(const np_flow *call, const real *dloss, real *loss,
                                   real *dparams, npagg_cache *cache);

/* The context's own cache, for calls that have none of the caller's. */
npagg_status NP_REAL(np_flow_cache)(npagg_ctx *ctx, npagg_cache **out);

#endif /* NP_FLOW_H */
