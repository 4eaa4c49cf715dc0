/* The flat parameter array in `real` <-> the values and gradients that nodes work with, in double.
 */
#ifndef NP_PARAMS_H
#define NP_PARAMS_H

#include "base/real.h"
#include "pgm/znode.h"

/* value [P] from params [P]; pgm then points at value. NPAGG_E_NUMERIC names a parameter that has
 * no value. */
npagg_status NP_REAL(np_pgm_load)(npagg_ctx *ctx, const npagg_prior *prior, const real *params,
                                  double *value, np_pgm *pgm);

/* dparams [P] += the chain rule of grad [P], the gradients that np_transform names, which it
 * overwrites. */
void NP_REAL(np_pgm_chain)(const npagg_ctx *ctx, const np_pgm *pgm, double *grad, real *dparams);

#endif /* NP_PARAMS_H */
