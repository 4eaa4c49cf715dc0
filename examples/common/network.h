/* A model as the settings say, with the shapes it is made of. */
#ifndef NETWORK_H
#define NETWORK_H

#include <npagg/npagg.h>

#include "settings.h"

typedef struct {
    npagg_encoder *encoder;
    npagg_prior *prior;
    npagg_vmp *vmp;
    npagg_decoder *decoder;
    npagg_objective *objective;
    npagg_model *model;
    int64_t p, prior_from, prior_to; /* number of parameters, and which are the prior's */
} network;

/* 0, or -1 after a complaint. */
int network_create(npagg_ctx *ctx, const settings *s, network *out);
void network_destroy(network *net);

/* Parameters of encoder and decoder; the prior's come on top. */
int64_t network_parameters(const network *net);

#endif /* NETWORK_H */
