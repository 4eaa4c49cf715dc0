/* Finding numbers that are not finite in what the caller gave. */
#ifndef NP_FINITE_H
#define NP_FINITE_H

#include "base/ctx.h"
#include "base/real.h"

/* The index of the first number of x [n] that is not finite, or -1. */
int64_t NP_REAL(np_finite_find)(const npagg_ctx *ctx, int64_t n, const real *x);

/* x [n] or [n,columns] is finite, else NPAGG_E_NUMERIC with the name and the index; columns 0: a
 * vector. */
npagg_status NP_REAL(np_finite_check)(npagg_ctx *ctx, const char *name, int64_t n, int64_t columns,
                                      const real *x);

#endif /* NP_FINITE_H */
