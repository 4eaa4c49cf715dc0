/* Inside of an objective, and its value for one task from what its samples are worth. */
#ifndef NP_OBJECTIVE_H
#define NP_OBJECTIVE_H

#include <npagg/objective.h>

#include "base/memory.h"

struct npagg_objective {
    np_memory mem;
    int32_t kind, points, normalise, sampling, kl;
    int64_t samples;
};

/* One task's samples, all [S]. */
typedef struct np_worth {
    int64_t s;
    const double *logw;   /* log weights */
    const double *loglik; /* sum over the points of log p(y | x, z_s) */
    const double *ratio;  /* log q_C(z_s) - log q_CT(z_s); iwae only */
    double kl;            /* elbo only */
} np_worth;

/* The gradient of each; set, not added to. */
typedef struct np_dworth {
    double *logw, *loglik, *ratio;
    double kl;
} np_dworth;

/* (O1)-(O4) of one task, to be maximised. */
double np_objective_forward(const npagg_objective *objective, const np_worth *worth);
void np_objective_backward(const npagg_objective *objective, const np_worth *worth, double g,
                           np_dworth *dworth);

#endif /* NP_OBJECTIVE_H */
