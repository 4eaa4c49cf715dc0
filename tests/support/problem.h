/*
 * A random inference problem and its run through the library, in either precision.
 *
 * All arrays of the problem and of the result are double; precision 32 rounds the inputs to float,
 * calls the _f32 functions on float copies and widens what comes back.
 */
#ifndef PROBLEM_H
#define PROBLEM_H

#include <stdint.h>

#include <npagg/npagg.h>

/* The last two are no priors: models whose encoder gives the posterior, by mean or attention. */
typedef enum { GAUSSIAN, MIXTURE, STUDENT, OF_MEAN, OF_ATTENTION } prior_kind;

typedef struct {
    prior_kind kind;
    int robust;         /* STUDENT: 1 is the paper's rBA, 0 the hierarchy with Gaussian factors */
    int64_t d, k;       /* k = 1 unless MIXTURE */
    int64_t n_sets, n;  /* B, N */
    int64_t p, q;       /* parameter and posterior counts */
    int64_t *offsets;   /* [B+1] */
    double *params;     /* [P] */
    double *m, *v;      /* [N,D] */
    double *weight;     /* [N] or NULL */
    double *dq, *dlogz; /* [B,Q], [B]: random cotangents; set to NULL by tests that want none */
    int32_t max_iters, grad; /* vmp settings */
    double tol;
} problem;

typedef struct {
    double *q, *logz; /* [B,Q], [B] (logz NULL unless problem.dlogz or want_logz) */
    double *dparams, *dm, *dv, *dweight; /* [P], [N,D], [N,D], [N] (dweight NULL without weight) */
    double *w, *residual;                /* [N], [B] */
    int32_t *iters, *grad_iters;         /* [B]; grad_iters is all 0 unless implicit */
    size_t cache_bytes;
} result;

/* splitmix64 stream for the tests: uniform in [lo, hi), standard normal, integer in [lo, hi]. */
typedef struct {
    uint64_t state;
} test_rng;
double rng_uniform(test_rng *rng, double lo, double hi);
double rng_normal(test_rng *rng);
int64_t rng_int(test_rng *rng, int64_t lo, int64_t hi);

/*
 * Draws m ~ N(0,1), v log-uniform in [0.2, 2], prior parameters of order one (a0, b0, c0 in [0.5,
 * 5]), cotangents N(0,1). sizes [n_sets] are the sizes of the sets. with_weight draws weights in
 * [0.5, 2], and masks rows 1, 5, 9 .., which then hold NaN.
 */
problem *problem_create(test_rng *rng, prior_kind kind, int robust, int64_t d, int64_t k,
                        int64_t n_sets, const int64_t *sizes, int with_weight);
problem *problem_copy(const problem *p);
void problem_round(problem *p); /* params, m, v, weight, cotangents to what float holds */
void problem_destroy(problem *p);
npagg_prior *problem_prior(npagg_ctx *ctx, const problem *p); /* the caller destroys it */
npagg_vmp *problem_vmp(npagg_ctx *ctx, const problem *p);     /* the caller destroys it */

/*
 * Forward, then backward if dq or dlogz is set, all gradients starting at zero; asserts that every
 * call succeeds. logz is asked for if problem.dlogz is set or want_logz. precision is 32 or 64.
 */
result *problem_run(npagg_ctx *ctx, const problem *p, int precision, int want_logz);
void result_destroy(result *r);

/* sum(dq * q) + sum(dlogz * logz) of a forward in f64: what backward differentiates. */
double problem_loss(npagg_ctx *ctx, const problem *p);

#endif /* PROBLEM_H */
