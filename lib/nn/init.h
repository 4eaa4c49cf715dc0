/* Initial parameters of networks. */
#ifndef NP_INIT_H
#define NP_INIT_H

#include "base/real.h"
#include "nn/net.h"

/* Weights and biases uniform in +-1/sqrt(in); number i of params [P] is the i-th of the stream.
 * Norms have gain 1 and bias 0. */
void NP_REAL(np_nets_init)(const np_nets *nets, uint64_t seed, uint64_t stream, real *params);

#endif /* NP_INIT_H */
