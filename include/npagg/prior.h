/*
 * Priors: the graphical model that says how the factors of a set combine.
 *
 *   gaussian   z ~ N(mean, var)                                    Bayesian aggregation
 *   mixture    k ~ softmax(logits), z | k ~ N(mean_k, var_k)       several modes
 *   student    z ~ N(0, 1/alpha), alpha ~ Gamma(a0, b0), robust    downweights outliers
 *
 * Robust factors, N(z | m_i, v_i / beta_i) with beta_i ~ Gamma(c0, c0), go with every prior;
 * student has them from the start.
 *
 * A prior is a shape and holds no numbers. Its parameters are one flat array of param_count
 * unconstrained reals that the caller owns (log variances, logits, logs), so any optimiser may move
 * them. Logs are used within -87.3 .. 87.3 in float and -708.3 .. 708.3 in double:
 *
 *   "mean"   [K,D]   gaussian, mixture; K = 1 for gaussian
 *   "logvar" [K,D]   gaussian, mixture
 *   "logits" [K]     mixture
 *   "log_a0", "log_b0"   student
 *   "log_c0"         every robust prior
 *
 * A posterior q is posterior_count reals per set:
 *
 *   "mean" [K,D]   "var" [K,D]   "logw" [K], mixture only: log of the posterior mixing weights
 *
 * Setters and look-ups take no context: out of range is NPAGG_E_ARG and changes nothing, an unknown
 * field is -1.
 */
#ifndef NPAGG_PRIOR_H
#define NPAGG_PRIOR_H

#include <npagg/types.h>

NPAGG_BEGIN_DECLS

/* d >= 1 dimensions of z, k >= 1 components. The caller owns *out. */
NPAGG_API npagg_status npagg_prior_create_gaussian(npagg_ctx *ctx, int64_t d, npagg_prior **out);
NPAGG_API npagg_status npagg_prior_create_mixture(npagg_ctx *ctx, int64_t d, int64_t k,
                                                  npagg_prior **out);
NPAGG_API npagg_status npagg_prior_create_student(npagg_ctx *ctx, int64_t d, npagg_prior **out);

/* NULL is fine. */
NPAGG_API void npagg_prior_destroy(npagg_prior *prior);

/* 1: Student-t factors, 0: Gaussian factors. Adds or removes "log_c0", always the last parameter.
 */
NPAGG_API npagg_status npagg_prior_set_robust(npagg_prior *prior, int32_t on);

/* Number of parameters P, and where a field begins; -1 if the prior is NULL or has no such field.
 */
NPAGG_API int64_t npagg_prior_param_count(const npagg_prior *prior);
NPAGG_API int64_t npagg_prior_param_offset(const npagg_prior *prior, const char *field);

/* Number of reals Q in one posterior, and where a field begins; -1 likewise. */
NPAGG_API int64_t npagg_prior_posterior_count(const npagg_prior *prior);
NPAGG_API int64_t npagg_prior_posterior_offset(const npagg_prior *prior, const char *field);

/*
 * params [P]: the paper's values. gaussian N(0, I); mixture: equal weights, unit variances, means
 * drawn from N(0, 0.1^2) by the seed (the same numbers on every machine); student a0 = b0 = 1e-6 D;
 * robust c0 = 1e-2 D.
 */
NPAGG_API npagg_status npagg_prior_init_params_f32(npagg_ctx *ctx, const npagg_prior *prior,
                                                   uint64_t seed, float *params);
NPAGG_API npagg_status npagg_prior_init_params_f64(npagg_ctx *ctx, const npagg_prior *prior,
                                                   uint64_t seed, double *params);

/*
 * out [P]: the same layout with variances for "logvar", mixing weights for "logits", a0, b0, c0 for
 * their logs. out may be params itself. NPAGG_E_NUMERIC if a parameter is not finite, or its
 * exponential or the inverse of that is not a normal number of this precision.
 */
NPAGG_API npagg_status npagg_prior_constrained_f32(npagg_ctx *ctx, const npagg_prior *prior,
                                                   const float *params, float *out);
NPAGG_API npagg_status npagg_prior_constrained_f64(npagg_ctx *ctx, const npagg_prior *prior,
                                                   const double *params, double *out);

NPAGG_END_DECLS

#endif /* NPAGG_PRIOR_H */
