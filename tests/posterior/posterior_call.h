/*
 * Every operation on posteriors with all its arguments at hand, in one precision.
 *
 * Copy the struct, change a field, call: the arrays stay those of the original. All outputs lie in
 * one block, so "untouched" and "the same bits" are one comparison.
 */
#ifndef POSTERIOR_CALL_H
#define POSTERIOR_CALL_H

#include <npagg/npagg.h>

#include "problem.h"

typedef enum {
    OP_STRATIFIED,
    OP_CHOSEN,
    OP_PATHWISE,
    OP_LOGPDF,
    OP_KL_CLOSED,
    OP_KL_SAMPLED,
    OP_KL_MATCHED,
    OP_MOMENTS,
    OP_ENTROPY,
    OP_CHOOSE,
    OPS
} posterior_op;

extern const char *const op_names[OPS];

typedef struct {
    int precision; /* 32 or 64 */
    size_t real;   /* bytes of one number */
    npagg_prior *prior;
    int owns_prior;
    int64_t d, k, count; /* D, K, Q */
    int64_t n_sets, n_samples;
    int32_t mode;                       /* -1: as the operation says */
    void *q, *p, *noise, *z, *logw, *u; /* [B,Q], [B,Q], [B,S,D], [B,S,D], [B,S], [B,S] */
    int32_t *which;                     /* [B,S] */
    void *dpoint, *dsample;             /* [B,S,D], [B,S]: cotangents */
    void *dset, *dmean, *dvar;          /* [B], [B,D], [B,D] */
    /* outputs */
    void *point, *sample;       /* z [B,S,D]; logw, logq [B,S] */
    void *set, *mean, *var;     /* kl, entropy [B]; moments [B,D] */
    int32_t *chosen;            /* [B,S] */
    void *dq, *dp, *dz, *dlogw; /* gradients of q, p, z, logw */
    unsigned char *out;
    size_t out_bytes;
} posterior_call;

/* Numbers of order one: means N(0,1), variances in [0.2, 2], weights and cotangents normal. */
posterior_call *call_create(npagg_ctx *ctx, test_rng *rng, prior_kind kind, int64_t d, int64_t k,
                            int64_t n_sets, int64_t n_samples, int precision);
/* The same numbers, rounded, in float. The prior stays that of f. */
posterior_call *call_narrow(const posterior_call *f);
void call_destroy(posterior_call *f);

/* Whether the closed form is not for this prior. */
int call_lacks(const posterior_call *f, posterior_op op);

npagg_status call_forward(npagg_ctx *ctx, const posterior_call *f, posterior_op op);
/* OP_CHOOSE has none: NPAGG_OK. */
npagg_status call_backward(npagg_ctx *ctx, const posterior_call *f, posterior_op op);
/* Outputs to zero, forward, backward; both must succeed. */
void call_run(npagg_ctx *ctx, const posterior_call *f, posterior_op op);

/* The sum of all outputs of forward times their cotangents. */
double call_loss(npagg_ctx *ctx, const posterior_call *f, posterior_op op);

double call_get(const posterior_call *f, const void *array, int64_t i);
void call_put(const posterior_call *f, void *array, int64_t i, double x);

void call_poison(const posterior_call *f);
void call_check_poison(const posterior_call *f, const char *what, int line);

#endif /* POSTERIOR_CALL_H */
