/*
 * Inference: factors (m_i, v_i) of ragged sets -> posterior q(z) of each set, and back.
 *
 * A batch has n_sets = B sets; set b owns rows offsets[b] .. offsets[b+1]-1 of the arrays m, v
 * [N,D], where offsets [B+1] starts at 0, never falls, and ends at N. A set may be empty: its
 * posterior is the prior's. All arrays are the caller's, dense and row-major; inputs may be NULL
 * where their size is 0. Outputs overlap neither inputs nor each other.
 *
 * Gaussian and mixture priors with Gaussian factors are exact after one sweep; all others iterate
 * variational message passing: sums over the rows, posterior of z, hyper-prior, weights E[beta_i].
 */
#ifndef NPAGG_INFER_H
#define NPAGG_INFER_H

#include <npagg/types.h>

NPAGG_BEGIN_DECLS

/*
 * How backward goes through the sweeps.
 *
 *   unroll     exact adjoint of the sweeps that were run. The cache holds N + 2 B D numbers, and
 *              B K for a mixture, for each of max_iters sweeps.
 *   last step  the last sweep only: its weights are differentiated, the q(z) they came from counts
 *              as constant. Cheapest, biased.
 *   implicit   implicit function theorem at the fixed point; exact as far as q(z) is one, so set a
 *              tolerance. The cache does not depend on the number of sweeps. A set that cannot be
 *              done this way is run forward again and unrolled, for which the context may allocate.
 */
#define NPAGG_GRAD_UNROLL 0
#define NPAGG_GRAD_LAST_STEP 1
#define NPAGG_GRAD_IMPLICIT 2

/* Settings with their defaults; where a function below takes a vmp, NULL means these. The caller
 * owns *out. */
NPAGG_API npagg_status npagg_vmp_create(npagg_ctx *ctx, npagg_vmp **out);
NPAGG_API void npagg_vmp_destroy(npagg_vmp *vmp);

/* At most n sweeps, 1..1000000, default 5. */
NPAGG_API npagg_status npagg_vmp_set_max_iters(npagg_vmp *vmp, int32_t n);

/*
 * A set stops after its sweep t >= 2 when its residual, the largest over dimensions of
 * |E_t - E_{t-1}| / sqrt(V_t) and |log V_t - log V_{t-1}|, is <= tol. Finite and >= 0; default 0
 * runs all sweeps.
 */
NPAGG_API npagg_status npagg_vmp_set_tolerance(npagg_vmp *vmp, double tol);

/* NPAGG_GRAD_*, default NPAGG_GRAD_UNROLL. Set it before forward: it also says what the cache
 * keeps. */
NPAGG_API npagg_status npagg_vmp_set_grad(npagg_vmp *vmp, int32_t mode);

/*
 * Whether a forward with a cache also computes the E[beta_i] of Student-t factors after the last
 * sweep, 0 or 1, default 1. No gradient needs them unless logz is given, and then they are computed
 * anyway: a training loop that does not read them by npagg_infer_weights saves a pass over the rows
 * and N numbers of the cache with 0.
 */
NPAGG_API npagg_status npagg_vmp_set_weights(npagg_vmp *vmp, int32_t on);

/*
 * q [B,Q], as laid out by the prior, and logz [B]: the complete log evidence, or for iterated
 * inference its lower bound after the last sweep. logz may be NULL, which saves the logarithms.
 *
 * params [P], as in prior.h; m finite, v positive and finite, and so 1/v [N,D]; weight [N] or NULL:
 * a multiplicity >= 0, 2 counts a row twice, 0 masks it: such a row is not read and may hold
 * anything. cache may be NULL if neither backward nor the look-ups below follow.
 *
 * NPAGG_E_NUMERIC names the first bad value it finds, as in "v[3,17] = -0.2, want > 0 and finite".
 * Finite results beyond the largest float32 are stored as the largest float32.
 */
NPAGG_API npagg_status npagg_infer_forward_f32(npagg_ctx *ctx, const npagg_prior *prior,
                                               const npagg_vmp *vmp, const float *params,
                                               int64_t n_sets, const int64_t *offsets,
                                               const float *m, const float *v, const float *weight,
                                               float *q, float *logz, npagg_cache *cache);
NPAGG_API npagg_status npagg_infer_forward_f64(npagg_ctx *ctx, const npagg_prior *prior,
                                               const npagg_vmp *vmp, const double *params,
                                               int64_t n_sets, const int64_t *offsets,
                                               const double *m, const double *v,
                                               const double *weight, double *q, double *logz,
                                               npagg_cache *cache);

/*
 * Gradients of sum(dq * q) + sum(dlogz * logz), added to dparams [P], dm, dv [N,D], dweight [N].
 * Each of the four may be NULL, and so may dq [B,Q] or dlogz [B]. The inputs and settings are those
 * of the forward that filled the cache, which stays as it is; dlogz needs a forward that was given
 * logz.
 *
 * Rows with weight 0 have their gradients left alone. Values are not checked: a NaN in dq comes out
 * as NaN. Finite gradients beyond the largest float32 are stored as the largest float32.
 */
NPAGG_API npagg_status npagg_infer_backward_f32(npagg_ctx *ctx, const npagg_prior *prior,
                                                const npagg_vmp *vmp, const float *params,
                                                int64_t n_sets, const int64_t *offsets,
                                                const float *m, const float *v, const float *weight,
                                                const float *dq, const float *dlogz, float *dparams,
                                                float *dm, float *dv, float *dweight,
                                                npagg_cache *cache);
NPAGG_API npagg_status npagg_infer_backward_f64(npagg_ctx *ctx, const npagg_prior *prior,
                                                const npagg_vmp *vmp, const double *params,
                                                int64_t n_sets, const int64_t *offsets,
                                                const double *m, const double *v,
                                                const double *weight, const double *dq,
                                                const double *dlogz, double *dparams, double *dm,
                                                double *dv, double *dweight, npagg_cache *cache);

/* What the cache knows of its last inference; NPAGG_E_STATE if it holds none, or not what is asked
 * for. */

/* iters [B]: sweeps each set took. */
NPAGG_API npagg_status npagg_infer_iters(npagg_ctx *ctx, const npagg_cache *cache, int32_t *iters);

/* w [N]: E[beta_i] after the last sweep; 1 for Gaussian factors, 0 for masked rows. In the
 * forward's precision. NPAGG_E_STATE if there are none: of Student-t factors after a forward with
 * npagg_vmp_set_weights set to 0 and without logz. */
NPAGG_API npagg_status npagg_infer_weights_f32(npagg_ctx *ctx, const npagg_cache *cache, float *w);
NPAGG_API npagg_status npagg_infer_weights_f64(npagg_ctx *ctx, const npagg_cache *cache, double *w);

/*
 * bound [iters of this set]: the bound after each sweep; needs a forward that was given logz, and
 * in implicit mode at most 128 sweeps.
 */
NPAGG_API npagg_status npagg_infer_trace(npagg_ctx *ctx, const npagg_cache *cache, int64_t set,
                                         double *bound);

/* residual [B] of the last sweep: 0 where one sweep is exact, infinity where only one sweep was
 * allowed. */
NPAGG_API npagg_status npagg_infer_residual(npagg_ctx *ctx, const npagg_cache *cache,
                                            double *residual);

/*
 * n [B]: adjoint sweeps each set took in the last implicit backward, or -1 where the sweeps did not
 * contract or the adjoint did not converge and the set was unrolled instead. NPAGG_E_STATE before
 * such a backward.
 */
NPAGG_API npagg_status npagg_infer_grad_iters(npagg_ctx *ctx, const npagg_cache *cache, int32_t *n);

NPAGG_END_DECLS

#endif /* NPAGG_INFER_H */
