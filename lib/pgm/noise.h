/*
 * Factor-noise nodes: a posterior -> weights of the rows, and their sums for the next z-update. One
 * table per kind of factor; as with a z-node it is all that the driver knows of them.
 *
 * w_t [n] are the weights E[beta] after sweep t; w_0 = 1. Their sums enter the z-update of sweep t
 * + 1.
 */
#ifndef NP_NOISE_H
#define NP_NOISE_H

#include "pgm/rows.h"
#include "pgm/znode.h"

/* One set in the middle of a sweep: q(z) and the sums it came from. */
typedef struct NP_REAL(np_sweep) {
    const np_post *post;
    const double *L, *h;     /* [D] */
    double *next_L, *next_h; /* [D]: sums for the next z-update, out; NULL: not wanted */
    real *w;                 /* [n]: weights that follow from post; NULL: not wanted */
    np_partial *stats; /* count, logs, quad of the set; extra is the node's own, of this sweep */
    int bound;         /* extra is wanted */
} NP_REAL(np_sweep);
#define np_sweep NP_REAL(np_sweep)

/* One set's gradient with respect to the sums of one sweep, and where they led. All [D]. */
typedef struct np_back {
    double *dh, *dL; /* dL centred on E */
    double *E, *V;
    int tame; /* float will do for the set with these */
} np_back;

/* The adjoint of a sweep's sums, on the rows. What is NULL is not wanted. */
typedef struct NP_REAL(np_pull) {
    const np_back *back;   /* of sweep t */
    const np_post *before; /* q(z) of sweep t-1, which gave w_{t-1}; NULL for t = 1 */
    const real *w;         /* [n]: w_{t-1}; NULL: 1 */
    real *dd;              /* [n]: out, what (A10) starts from at sweep t-1 */
    np_dpost *dpost;       /* of before: E, V are added to */
    real *dweight;         /* [n]: added to */
    double *grad;          /* [P]: added to */
} NP_REAL(np_pull);
#define np_pull NP_REAL(np_pull)

typedef struct NP_REAL(np_noise) {
    int32_t has_weights; /* they move, so one sweep is not enough */

    void (*forward)(const np_pgm *pgm, const np_rows *rows, const np_sweep *sweep);

    /* The rows' part of (R8); of (E1) if post is exact. */
    double (*bound)(const np_pgm *pgm, const np_sweep *sweep);

    /*
     * Its gradient times g: dd [n] gets what (A10) starts from; grad, unless NULL, the explicit
     * part; dpost, unless NULL, dE and dV. sweep->w is input.
     */
    void (*bound_backward)(const np_pgm *pgm, const np_rows *rows, const np_sweep *sweep, double g,
                           real *dd, np_dpost *dpost, double *grad);

    /* The bracket of (R8) without its log lam, as a function of (R1). */
    double (*log_factor)(const np_pgm *pgm, double q);

    void (*pull)(const np_pgm *pgm, const np_rows *rows, const np_pull *pull);

    /* dd [n] as pull has it for the rows of a piece, from (A8)'s s [n]; w as in np_pull. NULL if
     * the weights do not move. */
    void (*slope)(const np_pgm *pgm, const np_rows *rows, const np_piece *piece, const real *w,
                  const double *s, real *dd);
} NP_REAL(np_noise);
#define np_noise NP_REAL(np_noise)

extern const np_noise NP_REAL(np_gaussian_noise), NP_REAL(np_student_noise);

/* Indexed by np_noise_kind. */
extern const np_noise *const NP_REAL(np_noises)[NP_NOISE_KINDS];

#endif /* NP_NOISE_H */
