/*
 * Operations on posteriors: one struct has all arrays of a call, and every operation is a function
 * of one set. Public functions check and run it over all sets; a stage that walks over sets itself
 * may call the functions of a set with slates of its own. They cannot fail.
 */
#ifndef NP_POSTERIOR_H
#define NP_POSTERIOR_H

#include <npagg/posterior.h>

#include "base/real.h"
#include "posterior/density.h"

/* What is NULL is not wanted, or not there. */
typedef struct NP_REAL(np_posterior) {
    npagg_ctx *ctx;
    const char *name;    /* of the function, for error texts */
    int64_t d, k, count; /* D, K, Q */
    int32_t has_logw;    /* q has a "logw" */
    int32_t mode;        /* NPAGG_SAMPLE_* or NPAGG_KL_* */
    int64_t n_sets, n_samples;

    const real *q, *p;          /* [B,Q] */
    const real *z, *logw;       /* [B,S,D], [B,S]: points and their log weights */
    real *value;                /* log density [B,S]; KL, entropy [B] */
    const real *dvalue;         /* its gradient */
    real *dq, *dp, *dz, *dlogw; /* gradients, added to */

    /* samples */
    const real *noise;                /* [B,S,D] */
    const int32_t *which;             /* [B,S] */
    real *drawn, *drawn_logw;         /* z [B,S,D], logw [B,S] */
    const real *ddrawn, *ddrawn_logw; /* their gradients */
    const real *u;                    /* [B,S] */
    int32_t *chosen;                  /* [B,S] */

    /* moments */
    real *mean, *var;         /* [B,D] */
    const real *dmean, *dvar; /* their gradients */
} NP_REAL(np_posterior);
#define np_posterior NP_REAL(np_posterior)

typedef void (*NP_REAL(np_posterior_fn))(const np_posterior *op, int64_t b, np_slate *slate);
#define np_posterior_fn NP_REAL(np_posterior_fn)

/* The operations, for set b. */
void NP_REAL(np_sample_forward)(const np_posterior *op, int64_t b, np_slate *slate);
void NP_REAL(np_sample_backward)(const np_posterior *op, int64_t b, np_slate *slate);
void NP_REAL(np_choose_forward)(const np_posterior *op, int64_t b, np_slate *slate);
void NP_REAL(np_logpdf_forward)(const np_posterior *op, int64_t b, np_slate *slate);
void NP_REAL(np_logpdf_backward)(const np_posterior *op, int64_t b, np_slate *slate);
void NP_REAL(np_kl_forward)(const np_posterior *op, int64_t b, np_slate *slate);
void NP_REAL(np_kl_backward)(const np_posterior *op, int64_t b, np_slate *slate);
void NP_REAL(np_mixmoments_forward)(const np_posterior *op, int64_t b, np_slate *slate);
void NP_REAL(np_mixmoments_backward)(const np_posterior *op, int64_t b, np_slate *slate);
void NP_REAL(np_entropy_forward)(const np_posterior *op, int64_t b, np_slate *slate);
void NP_REAL(np_entropy_backward)(const np_posterior *op, int64_t b, np_slate *slate);

/* sum_s exp(logw_s) (log q(z_s) - log p(z_s)), without log p if op->p is NULL. */
double NP_REAL(np_average_forward)(const np_posterior *op, int64_t b, np_slate *slate);
/* g times its gradient into dq, dp, dz, dlogw. */
void NP_REAL(np_average_backward)(const np_posterior *op, int64_t b, double g, np_slate *slate);

/* A call on posteriors of this prior with all arrays NULL; the sizes are checked. */
npagg_status NP_REAL(np_posterior_begin)(npagg_ctx *ctx, const npagg_prior *prior, const char *name,
                                         int64_t n_sets, int64_t n_samples, np_posterior *op);
/* fn for every set, on all threads; NPAGG_E_NOMEM before the first. */
npagg_status NP_REAL(np_posterior_run)(const np_posterior *op, np_posterior_fn fn);

/* Checks of arguments: an array with this many numbers per set is there ... */
npagg_status NP_REAL(np_posterior_check_array)(const np_posterior *op, const char *name,
                                               const void *array, int64_t per_set);
/* ... q [B,Q] is there, finite, and its variances are positive ... */
npagg_status NP_REAL(np_posterior_check_q)(const np_posterior *op, const char *name, const real *q);
/* ... x [B,S,columns] is there and finite; columns 0 is [B,S] ... */
npagg_status NP_REAL(np_posterior_check_finite)(const np_posterior *op, const char *name,
                                                const real *x, int64_t columns);
/* ... mode is one of 0..2. */
npagg_status NP_REAL(np_posterior_check_mode)(const np_posterior *op, const char *name);

/* Set b of q [B,Q] in double; a q without logw has log weights 0. */
void NP_REAL(np_posterior_load)(const np_posterior *op, const real *q, int64_t b, np_post *post);
/* The same, ready for np_density_log. */
void NP_REAL(np_posterior_density)(const np_posterior *op, const real *q, int64_t b,
                                   np_density *q_b);
/* Set b of dq [B,Q] += dpost; dq may be NULL. */
void NP_REAL(np_posterior_add)(const np_posterior *op, const np_dpost *dpost, int64_t b, real *dq);

/* y [n] = x; x [n] += y. */
static inline void NP_REAL(np_widen)(int64_t n, const real *x, double *y)
{
    for (int64_t j = 0; j < n; j++)
        y[j] = (double)x[j];
}

static inline void NP_REAL(np_add)(int64_t n, const double *y, real *x)
{
    for (int64_t j = 0; j < n; j++)
        x[j] = np_saturate((double)x[j] + y[j]);
}

#endif /* NP_POSTERIOR_H */
