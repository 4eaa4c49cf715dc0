/* Sums over some of a set's rows, and how two of them become one. */
#ifndef NP_PARTIAL_H
#define NP_PARTIAL_H

#include "base/arena.h"
#include "pgm/dims.h"

typedef struct np_partial {
    double *L, *h;      /* [D]: (S1), (S2), or what a pass sums in their place */
    double count, logs; /* sum of weights; weighted sum of log lam */
    double quad;        /* weighted sum of lam (m - mean)^2 about these rows' own mean h / L */
    double extra[2];    /* as a pass likes */
    int32_t wild, bad;  /* float kernels will not do; some number is not allowed */
    int32_t stale;      /* the centre of the rows is too far away for some of them */
} np_partial;

np_partial np_partial_take(np_arena *arena, int64_t d);
void np_partial_clear(np_partial *p, int64_t d);

/* a += b. centred: the quadratic gets what lies between the two means (MATHS 1), O(D) divisions. */
void np_partial_merge(const np_dims *dims, int64_t d, const np_partial *b, int centred,
                      np_partial *a);

#endif /* NP_PARTIAL_H */
