/* How a call of the engine begins: what forward and backward share. */
#ifndef NP_CALL_H
#define NP_CALL_H

#include "vmp/run.h"

/* The arguments that both have; *n is N. */
npagg_status NP_REAL(np_run_check)(npagg_ctx *ctx, const npagg_prior *prior, const real *params,
                                   int64_t n_sets, const int64_t *offsets, const real *m,
                                   const real *v, int64_t *n);

/* A run with what both have; the prior's numbers come later. */
np_run NP_REAL(np_run_begin)(npagg_ctx *ctx, const npagg_prior *prior, const npagg_vmp *vmp,
                             int64_t n_sets, const int64_t *offsets, const real *m, const real *v,
                             const real *weight);

/* The record that its forward fills. keep: a backward may follow. */
np_record NP_REAL(np_run_record)(const np_run *run, int64_t n, int evidence, int keep);

/* The call itself, its arguments checked; run->ends and run->base may have been set. n is N, the
 * rows of m and v. */
npagg_status NP_REAL(np_infer_forward)(np_run *run, int64_t n, const real *params, real *q,
                                       real *logz, npagg_cache *cache);

/* The same for the gradients in run, at the parameters of that forward; dparams may be NULL. */
npagg_status NP_REAL(np_infer_backward)(np_run *run, real *dparams, const npagg_cache *cache);

#endif /* NP_CALL_H */
