/*
 * One call of the engine: inputs, outputs, settings, and the workers' arrays.
 *
 * A sweep is sums -> z-node -> hyper-prior -> weights, whatever the nodes are. A set is worked on
 * by one worker, all its sweeps in a row so that its rows stay in cache; a set of many chunks, or
 * of two where the batch has few sets, has all workers to itself.
 */
#ifndef NP_RUN_H
#define NP_RUN_H

#include "pgm/factors.h"
#include "vmp/krylov.h"
#include "vmp/record.h"
#include "vmp/vmp.h"

/* Arrays of one worker, reused from set to set. */
typedef struct NP_REAL(np_work) {
    _Alignas(NP_APART) np_partial *partial; /* [chunks] */
    np_kept kept;                           /* rows of a small set that has many sweeps */
    double *spare;                          /* [D] */
    int32_t turn;                           /* as np_rows has it */
    int32_t bad;                            /* forward: one of its sets could not be done */
    np_post post[2];                        /* of two sweeps in succession */
    /* backward only */
    np_dpost dpost;
    np_back *back;            /* [slots] */
    real **w, **dd;           /* [slots]: as np_push wants them */
    real *dd_bound;           /* [rows]: of the bound; NULL if nobody asks for its gradient */
    real *dd_rows;            /* [slots, rows of sets that keep dd] */
    np_krylov krylov;         /* implicit only, with: */
    double *start, *solution; /* [2D] */
} NP_REAL(np_work);
#define np_work NP_REAL(np_work)

/* Rows of the largest set. */
typedef struct np_most_rows {
    int64_t all, small; /* of all sets; of those that one worker does alone */
    int64_t few, dd;    /* whose rows are kept; whose dd are */
} np_most_rows;

typedef struct NP_REAL(np_run) {
    npagg_ctx *ctx;
    np_pgm pgm;
    const np_znode *z;
    const np_noise *noise;
    npagg_vmp vmp;
    int32_t iterated; /* one sweep is not exact */
    int64_t n_sets;
    const int64_t *offsets, *ends; /* [B]: set b is rows offsets[b] .. ends[b]-1 */
    const real *m, *v, *weight;
    np_record *rec;
    const np_record
        *base; /* of the same sets cut short: their sums are taken from there; may be NULL */

    /* forward */
    real *q, *out; /* [B,Q]: until all sets are good, and where it goes then */

    /* backward */
    const real *dq, *dlogz;
    real *dm, *dv, *dweight;
    double *grad;       /* [groups+1,stride]: as np_transform names them; NULL: not wanted */
    double *grad_alone; /* [P]: of the sets that are run alone, the last of these */
    int64_t grad_stride;
    double *adjoint; /* [B,2,D]: implicit only, the adjoint of E and V */

    /* what follows from the sets, once they are settled; workers, if there are any, stay */
    int32_t settled;
    int32_t workers;
    np_cut cut;
    int64_t small; /* the most rows of a set that is one worker's */
    np_most_rows most;
    int64_t groups;
    int64_t ahead; /* as np_block has them */
    int32_t inner;

    /* workers */
    const double *zero; /* [D] */
    np_lane *lanes;     /* [workers] */
    np_work *work;      /* [workers] */
    void *user;         /* of functions that are not inference */
} NP_REAL(np_run);
#define np_run NP_REAL(np_run)

/* A set and who works on it. */
typedef struct NP_REAL(np_set) {
    const np_run *run;
    int64_t b, first; /* first: its first row in the batch */
    np_rows rows;
    np_work *work;
    double *grad; /* [P]: the group's */
} NP_REAL(np_set);
#define np_set NP_REAL(np_set)

typedef void (*NP_REAL(np_set_fn))(np_set *set);
#define np_set_fn NP_REAL(np_set_fn)

/* The run's weights after sweep t = 0.. of the set, [n]; NULL: all 1. */
real *NP_REAL(np_set_weights)(const np_set *set, int32_t t);

/* Whose threads share the work; NULL: nobody's. */
npagg_ctx *NP_REAL(np_run_team)(const np_run *run);

/* fn for every set of the run, on all workers. Clears grad first. */
void NP_REAL(np_run_sets)(const np_run *run, np_set_fn fn);

/* fn for one set with all workers on its chunks; it adds to grad_alone. */
void NP_REAL(np_run_alone)(const np_run *run, int64_t b, np_set_fn fn);

/* Whether backward keeps dd of all sweeps; of sets with very many rows it would be as much
 * memory as their weights, and is computed again. */
int NP_REAL(np_set_keeps_dd)(const np_run *run, int64_t b);

/* The group whose gradient set b adds to; the large sets' is the one after the last. */
int64_t NP_REAL(np_run_group)(const np_run *run, int64_t b);

/* Gradients of the groups, after np_run_take; and that [P] of one, NULL if they are not wanted. */
void NP_REAL(np_run_take_grad)(np_arena *arena, np_run *run);
double *NP_REAL(np_run_grad)(const np_run *run, int64_t group);

/* What the workers need; backward also gradients, for sets of at most `slots` sweeps. */
typedef enum np_purpose { NP_FORWARD, NP_BACKWARD, NP_IMPLICIT } np_purpose;
void NP_REAL(np_run_take)(np_arena *arena, np_run *run, np_purpose purpose, int32_t slots);

/* One set, forward: all its sweeps, into the record and q. */
void NP_REAL(np_forward_set)(np_set *set);

/* One set, backward, in each of the modes. */
void NP_REAL(np_backward_unrolled)(np_set *set);
void NP_REAL(np_backward_last_step)(np_set *set);

/* After np_implicit_solve. Of the sets that it gave up this unrolls those that are kept and skips
 * the rest. */
void NP_REAL(np_backward_implicit)(np_set *set);

/* Whether the record has all sweeps of set b even if it keeps only the last two. */
int NP_REAL(np_set_is_kept)(const np_run *run, int64_t b);

/*
 * The adjoint of E and V at the fixed point into run->adjoint, and how many adjoint sweeps that
 * took into rec->grad_iters: -1 if it was given up, 0 if one sweep is exact.
 */
void NP_REAL(np_implicit_solve)(np_set *set);

/* The parts of backward that the implicit solver shares. */

/* q(z) of sweep t again, from its sums; of a mixture that one sweep gives and whose evidence has no
 * gradient only E, and V = 0. */
void NP_REAL(np_adjoint_restore)(const np_set *set, int32_t t, np_post *post);

/* work->dpost from dq; zero if there is none. */
void NP_REAL(np_adjoint_start)(const np_set *set);

/* Where the adjoint of one sweep goes; what is NULL is not wanted. */
typedef struct NP_REAL(np_trail) {
    np_back *back;         /* gradient of the sums of sweep t */
    const np_post *before; /* q(z) of sweep t-1; NULL for t = 1 */
    real *dd;              /* [n]: of sweep t-1 */
    real *dweight;         /* [n] */
    double *grad;          /* [P] */
    int drop;              /* q(z) of sweep t-1 counts as constant */
} NP_REAL(np_trail);
#define np_trail NP_REAL(np_trail)

/* From the gradient of q(z) of sweep t, `post`, to that of sweep t-1, both in work->dpost. */
void NP_REAL(np_adjoint_sweep)(np_set *set, int32_t t, const np_post *post, const np_trail *trail);

#endif /* NP_RUN_H */
