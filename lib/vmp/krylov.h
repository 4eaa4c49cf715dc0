/*
 * GMRES for small dense problems given as a function: the smallest residual that k applications can
 * reach, where repeating the map would need as many as its slowest mode.
 */
#ifndef NP_KRYLOV_H
#define NP_KRYLOV_H

#include "base/arena.h"

#define NP_KRYLOV_MAX 99 /* applications; with the one that makes the right-hand side 100 */

/* out [n] = A x; arg is the caller's. */
typedef void (*np_linear_fn)(void *arg, const double *x, double *out);

typedef struct np_krylov {
    int64_t n;
    double *basis; /* [MAX + 1, n] */
    double *small; /* Hessenberg matrix, rotations, right-hand side */
} np_krylov;

np_krylov np_krylov_take(np_arena *arena, int64_t n);

/* x [n] with |A x - b| <= tol |b|; gives the applications it took, or -1 if MAX were not enough. */
int32_t np_krylov_solve(const np_krylov *room, np_linear_fn fn, void *arg, const double *b,
                        double tol, double *x);

#endif /* NP_KRYLOV_H */
