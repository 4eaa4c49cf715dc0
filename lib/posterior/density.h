/*
 * The density of one posterior, and what a worker needs for one set. All in double and in log
 * space: a responsibility may be 0, never all of them, and a log density is always finite.
 */
#ifndef NP_DENSITY_H
#define NP_DENSITY_H

#include "pgm/znode.h"

typedef struct np_density {
    int64_t d, k;
    np_post post;  /* the caller fills mean, var, logw */
    double *isd;   /* [K,D] 1 / sqrt(var): unlike 1 / var it is finite for every var > 0 */
    double *level; /* [K] log w_k - 1/2 sum_d log 2 pi var_k */
    double *share; /* [K] of the last point: log w_k N_k(z), after np_density_share rho_k(z) */
} np_density;

/* Arrays for one. */
np_density np_density_take(np_arena *arena, int64_t d, int64_t k);

/* isd and level from post. */
void np_density_begin(np_density *q);

/* log q(z) at z [D]; share is then log w_k N_k(z). */
double np_density_log(np_density *q, const double *z);

/* Right after np_density_log: share becomes the responsibilities rho_k(z) = w_k N_k(z) / q(z). */
void np_density_share(np_density *q, double log_q);

/*
 * g times the gradient of log q(z) after np_density_share:
 * dlogw_k += g rho_k, and with x = (z - mean_k) / sd_k
 * dmean_k += g rho_k x / sd_k, dvar_k += 1/2 g rho_k (x^2 - 1) / var_k, dz -= g rho_k x / sd_k.
 * dq and dz [D] may be NULL.
 */
void np_density_backward(const np_density *q, const double *z, double g, np_dpost *dq, double *dz);

/* What one worker writes on, reused from set to set. */
typedef struct np_slate {
    np_density q, p;
    np_dpost dq, dp;
    double *z, *dz; /* [D] */
} np_slate;

/* One slate per worker, [workers]. */
np_slate *np_slates_take(np_arena *arena, int64_t d, int64_t k, int32_t workers);

#endif /* NP_DENSITY_H */
