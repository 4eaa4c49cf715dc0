/*
 * z-nodes: the sums of a set -> posterior of z. One table per prior; the driver knows no other way
 * to them.
 *
 * All of it is in double and per set, O(K D). L, h [D] are (S1), (S2). hyper is the expectation of
 * the node's hyper-parameter that enters the update (E[alpha]); nodes without one ignore it.
 */
#ifndef NP_ZNODE_H
#define NP_ZNODE_H

#include <stdint.h>

#include "base/arena.h"
#include "pgm/dims.h"
#include "pgm/prior.h"

/* A prior with its numbers, for one call. */
typedef struct np_pgm {
    const npagg_prior *prior;
    int64_t d, k, p;
    const double *value; /* [P]: parameters after their transform */
    const np_dims *dims;
} np_pgm;

/* q(z): components, and the moments (M1). With one component E and V are its mean and var. */
typedef struct np_post {
    double *mean, *var; /* [K,D] */
    double *logw;       /* [K] */
    double *E, *V;      /* [D] */
    double squares;     /* sum_j E^2 + V from a node that has use for it, otherwise NaN */
} np_post;

/* The gradient of each, likewise; that of squares is part of dE and dV. */
typedef np_post np_dpost;

struct np_znode {
    const np_field *fields;
    int32_t n_fields;
    int32_t has_logw;  /* q has a "logw" */
    int32_t has_hyper; /* the update has a hyper-parameter, so one sweep is not enough */

    /*
     * mean, var and logw; the moments are left to the caller, who may have no need of them. known:
     * post->logw is given, as an earlier forward with the same arguments left it. A node whose
     * other functions read post->squares sets it here.
     */
    void (*forward)(const np_pgm *pgm, double hyper, const double *L, const double *h, int known,
                    np_post *post);

    /*
     * Gradient of mean, var, logw in dpost -> dL (centred on E, (A2)), dh, which are set, and
     * dhyper; grad [P], in the gradients that np_transform names, is added to. grad may be NULL.
     * Of several components post need not have more than logw and E.
     */
    void (*backward)(const np_pgm *pgm, double hyper, const double *L, const double *h,
                     const np_post *post, const np_dpost *dpost, double *dL, double *dh,
                     double *dhyper, double *grad);

    /* The hyper-parameter's next expectation; its gradient into dpost->E, V and grad. NULL without
     * one. */
    double (*hyper_forward)(const np_pgm *pgm, const np_post *post);
    void (*hyper_backward)(const np_pgm *pgm, const np_post *post, double dhyper, np_dpost *dpost,
                           double *grad);

    /* P of (R8): what the prior contributes to the bound after a whole sweep. */
    double (*bound)(const np_pgm *pgm, const double *L, const double *h, const np_post *post);

    /* Its gradient times g: the explicit part into grad; the part through q into dpost unless that
     * is NULL. */
    void (*bound_backward)(const np_pgm *pgm, const double *L, const double *h, const np_post *post,
                           double g, np_dpost *dpost, double *grad);
};

extern const np_znode np_gaussian_node, np_mixture_node, np_hierarchy_node;

/* No node: one Gaussian that something else than inference gives. No fields and no functions. */
extern const np_znode np_given_node;

/* Arrays for a posterior, and for the gradient of one. */
np_post np_post_take(np_arena *arena, int64_t d, int64_t k);
np_dpost np_dpost_take(np_arena *arena, int64_t d, int64_t k);
void np_dpost_clear(int64_t d, int64_t k, np_dpost *dpost);

/* (M1) and (A13): fills E and V, or E alone, and V with 0; adds the gradient of E, V in dpost to
 * its mean, var, logw and clears it. Of one component they are the same arrays, and nothing is
 * done. */
void np_moments_forward(const np_dims *dims, int64_t d, int64_t k, int with_V, np_post *post);
void np_moments_backward(const np_dims *dims, int64_t d, int64_t k, const np_post *post,
                         np_dpost *dpost);

#endif /* NP_ZNODE_H */
