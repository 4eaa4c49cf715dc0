/* Settings of the message passing. */
#ifndef NP_VMP_H
#define NP_VMP_H

#include <npagg/infer.h>

#include "base/ctx.h"

struct npagg_vmp {
    np_memory mem;
    int32_t max_iters;
    int32_t grad;
    int32_t weights; /* those after the last sweep are wanted */
    double tol;
};

/* The settings, or the defaults for NULL. */
npagg_vmp np_vmp_settings(const npagg_vmp *vmp);

#endif /* NP_VMP_H */
