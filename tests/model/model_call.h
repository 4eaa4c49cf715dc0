/*
 * A model with a batch of tasks and every argument of its calls at hand, in one precision.
 *
 * Copy the struct, change a field, call: the arrays stay those of the original. All outputs lie in
 * one block, so "untouched" and "the same bits" are one comparison.
 */
#ifndef MODEL_CALL_H
#define MODEL_CALL_H

#include <npagg/npagg.h>

#include "inference.h"

/* What a model is; 0 in a size means the default in brackets, -1 means none. */
typedef struct {
    const flavour *prior;
    int32_t objective, kl, points, normalise, sampling; /* NPAGG_* */
    int32_t grad, sweeps;                               /* of the vmp; sweeps [3] */
    int64_t d, samples, x_dim, y_dim;                   /* [2], [4], [1], [1] */
    int64_t width;                                      /* of the hidden layer [3] */
    int trunk, bernoulli;
} model_spec;

/* gaussian, elbo with its own KL divergence, everything else the objective's default. */
model_spec spec_of(const flavour *prior, int32_t objective);

/* Whether its encoder is of sets. */
int is_of_sets(const model_spec *spec);

typedef struct {
    npagg_encoder *encoder;
    npagg_prior *prior; /* NULL, and so is vmp, if the encoder is of sets */
    npagg_vmp *vmp;
    npagg_decoder *decoder;
    npagg_objective *objective;
} model_parts;

model_parts parts_create(npagg_ctx *ctx, const model_spec *spec);
void parts_destroy(model_parts *parts);

typedef struct {
    int precision; /* 32 or 64 */
    size_t real;   /* bytes of one number */
    model_spec spec;
    model_parts parts;
    npagg_model *model;
    int owns;                             /* parts and model end with this call */
    int64_t p, q, d, k, s, x_dim, y_dim;  /* P, Q, D, K, S, X, Y */
    int64_t n_sets, n;                    /* B, N */
    int64_t *offsets, *n_ctx;             /* [B+1], [B] */
    void *params, *x, *y, *noise, *dloss; /* [P], [N,X], [N,Y], [B,S,D], [B] */
    int32_t *which;                       /* [B,S] */
    void *loss, *dparams;                 /* [B], [P] */
    unsigned char *out;                   /* both, one after the other */
    size_t out_bytes;
} model_call;

/*
 * Tasks of sizes [n_sets] with contexts n_ctx [n_sets]. All numbers are drawn from the seed, of
 * order one, and floats: the same in both precisions.
 */
model_call *model_call_create(npagg_ctx *ctx, const model_spec *spec, int precision, uint64_t seed,
                              int64_t n_sets, const int64_t *sizes, const int64_t *n_ctx);
/* Ragged tasks: a usual one, no context, no targets, empty, one point of each. */
enum { RAGGED_SETS = 5 };
model_call *model_call_ragged(npagg_ctx *ctx, const model_spec *spec, int precision, uint64_t seed);
/* Task b alone, with the model of `whole`. */
model_call *model_call_task(const model_call *whole, int64_t b);
void model_call_destroy(model_call *f);

npagg_status model_forward(npagg_ctx *ctx, const model_call *f, npagg_cache *cache);
npagg_status model_backward(npagg_ctx *ctx, const model_call *f, npagg_cache *cache);
npagg_status model_step(npagg_ctx *ctx, const model_call *f);

/* Outputs to zero, forward and backward with a cache of their own, or a step; must succeed. */
void model_run(npagg_ctx *ctx, const model_call *f, npagg_cache *cache);
void model_run_once(npagg_ctx *ctx, const model_call *f);
void model_run_step(npagg_ctx *ctx, const model_call *f);

/* sum(dloss * loss) of a forward: what backward differentiates. */
double model_value(npagg_ctx *ctx, const model_call *f);

double model_get(const model_call *f, const void *array, int64_t i);
void model_put(const model_call *f, void *array, int64_t i, double x);

/* "robust mixture elbo kl=1 points=0 ...", for messages; one static buffer. */
const char *model_describe(const model_call *f, const char *what);

void model_poison(const model_call *f);
#define ASSERT_MODEL_UNTOUCHED(f) model_check_poison((f), __LINE__)
#define ASSERT_SAME_MODEL_OUTPUTS(want, got) model_check_same((want), (got), __LINE__)
void model_check_poison(const model_call *f, int line);
void model_check_same(const model_call *want, const model_call *got, int line);

/* Each spec that a prior and an objective allow: KL kinds, points, normalisation, sampling. */
typedef void (*spec_fn)(npagg_ctx *ctx, const model_spec *spec);
void for_each_spec(npagg_ctx *ctx, const flavour *prior, spec_fn fn);

#endif /* MODEL_CALL_H */
