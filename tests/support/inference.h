/*
 * One inference in one precision with every argument at hand, for tests that bend a single one.
 *
 * Copy the struct, change a field, call: the arrays stay those of the original. All outputs lie in
 * one block, so "untouched" and "the same bits" are one comparison.
 */
#ifndef INFERENCE_H
#define INFERENCE_H

#include <stdint.h>

#include <npagg/npagg.h>

#include "problem.h"

/* Every prior with and without robust factors; behind these, for models, encoders of sets. */
typedef struct {
    const char *name;
    prior_kind kind;
    int robust;
    int64_t k;
} flavour;

#define FLAVOURS 6
#define MODEL_FLAVOURS 8
#define GRAD_MODES 3
extern const flavour flavours[MODEL_FLAVOURS];

/*
 * The paper's hyper-parameters, two sweeps and points far apart: nowhere near a fixed point, so
 * that an implicit backward of STUDENT must fall back to unrolling some sets.
 */
void problem_leave_fixed_point(problem *p);

typedef struct {
    int precision;   /* 32 or 64 */
    size_t real;     /* bytes of one number */
    int owns_shapes; /* prior and vmp end with this inference */
    npagg_prior *prior;
    npagg_vmp *vmp;
    int64_t d, n_sets, n, p, q;        /* D, B, N, P, Q */
    int64_t *offsets;                  /* [B+1] */
    void *params, *m, *v, *weight;     /* [P], [N,D], [N,D], [N] or NULL */
    void *dq, *dlogz;                  /* [B,Q], [B] */
    void *post, *logz, *w;             /* [B,Q], [B], [N] */
    void *dm, *dv, *dweight, *dparams; /* [N,D], [N,D], [N], [P] */
    unsigned char *out;                /* the seven above, one after the other */
    size_t out_bytes;
} inference;

inference *inference_create(npagg_ctx *ctx, const problem *p, int precision);
/* The listed sets of `whole` in this order; the shapes stay those of `whole`. */
inference *inference_pick(const inference *whole, int64_t n_sets, const int64_t *which);
void inference_destroy(inference *f);

npagg_status inference_forward(npagg_ctx *ctx, const inference *f, npagg_cache *cache);
npagg_status inference_weights(npagg_ctx *ctx, const inference *f, const npagg_cache *cache);
npagg_status inference_backward(npagg_ctx *ctx, const inference *f, npagg_cache *cache);

/* Outputs to zero, forward, weights, backward; every call must succeed. */
void inference_run(npagg_ctx *ctx, const inference *f, npagg_cache *cache);
/* The same with a cache of its own. */
void inference_run_once(npagg_ctx *ctx, const inference *f);

/* Entry i of one of the arrays above. */
double inference_get(const inference *f, const void *array, int64_t i);
void inference_put(const inference *f, void *array, int64_t i, double x);

void inference_poison(const inference *f);
#define ASSERT_UNTOUCHED(f) inference_check_poison((f), __LINE__)
#define ASSERT_SAME_OUTPUTS(want, got) inference_check_same((want), (got), __LINE__)
/* q, logz, w, dm, dv, dweight of set `a` of `want` and of set `b` of `got`. */
#define ASSERT_SAME_SET(want, a, got, b) inference_check_same_set((want), (a), (got), (b), __LINE__)

void inference_check_poison(const inference *f, int line);
void inference_check_same(const inference *want, const inference *got, int line);
void inference_check_same_set(const inference *want, int64_t a, const inference *got, int64_t b,
                              int line);

#endif /* INFERENCE_H */
