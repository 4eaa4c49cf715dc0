/*
 * Shapes of networks: how many layers of which width, and where their tensors are in a flat
 * parameter array. A layer is a weight [out,in], then a bias [out]. A matrix has no bias. A norm is
 * laid out like a layer 1 -> out: gain [out], bias [out].
 */
#ifndef NP_NET_H
#define NP_NET_H

#include <npagg/encoder.h>

#include "base/tensor.h"

#define NP_MAX_HIDDEN 32 /* so that shapes have a fixed size and can be copied */
#define NP_MAX_LAYERS (NP_MAX_HIDDEN + 1)
#define NP_MAX_NETS 10

/* Layers are "name.0.weight", "name.0.bias", "name.1.weight" ..; the others have no number. */
typedef enum np_net_kind { NP_NET_LAYERS, NP_NET_LAYER, NP_NET_MATRIX, NP_NET_NORM } np_net_kind;

typedef struct np_mlp {
    np_net_kind kind;
    int32_t layers;                   /* linear layers */
    int32_t activation;               /* NPAGG_ACTIVATION_* between them */
    int32_t ends_active;              /* and after the last one */
    int64_t offset;                   /* of the first weight */
    int64_t align;                    /* tensors begin at multiples of it; 0: anywhere */
    int64_t width[NP_MAX_LAYERS + 1]; /* layer l: width[l] -> width[l+1] */
} np_mlp;

/* The networks of an encoder or decoder, in the order of their parameters. */
typedef struct np_nets {
    int32_t n;
    int64_t params; /* P */
    np_mlp net[NP_MAX_NETS];
    const char *name[NP_MAX_NETS];
} np_nets;

/* in -> widths [n_hidden] -> out, as the next one of nets. */
void np_nets_add(np_nets *nets, const char *name, int64_t in, int64_t n_hidden,
                 const int64_t *widths, int64_t out, int32_t activation);

/* One layer or matrix in -> out, or a norm of `out` numbers. */
void np_nets_add_one(np_nets *nets, const char *name, np_net_kind kind, int64_t in, int64_t out);

/* Makes the last network end with its last hidden layer's activation instead of `out`. */
void np_nets_cut(np_nets *nets);

/* Makes the last network end with an activation after `out`. */
void np_nets_activate(np_nets *nets);

/*
 * The same networks in memory of our own, where every tensor begins at a cache line: vectors that
 * cross lines cost a product of 128 x 128 a sixth.
 */
np_nets np_nets_align(const np_nets *nets);

/* 1 with tensor i, 0 past the last. */
int np_nets_tensor(const np_nets *nets, int64_t i, np_tensor *out);

/* Where the tensor of this name starts, or -1. */
int64_t np_nets_offset(const np_nets *nets, const char *field);

/* Whether n_copies of in -> widths -> out have a number of parameters that can be addressed, and so
 * have the rows of a tile. */
int np_widths_fit(int64_t n_copies, int64_t in, int64_t n_hidden, const int64_t *widths,
                  int64_t out);

int64_t np_mlp_weight(const np_mlp *mlp, int32_t layer); /* offsets */
int64_t np_mlp_bias(const np_mlp *mlp, int32_t layer);
int64_t np_mlp_bias_count(const np_mlp *mlp, int32_t layer);
int64_t np_mlp_widest(const np_mlp *mlp); /* largest output of a layer */

/* Layers whose output goes through the activation. */
int32_t np_mlp_active(const np_mlp *mlp);

int np_activation_is_known(int32_t activation);

/* Whether backward needs what entered the activation, not only what left it. */
int np_activation_keeps_input(int32_t activation);

#endif /* NP_NET_H */
