#include "nn/init.h"

#include <math.h>

#include "base/rng.h"

void NP_REAL(np_nets_init)(const np_nets *nets, uint64_t seed, uint64_t stream, real *params)
{
    const uint64_t key = seed ^ NP_RNG_INIT;
    for (int32_t n = 0; n < nets->n; n++) {
        const np_mlp *mlp = &nets->net[n];
        for (int32_t l = 0; l < mlp->layers; l++) {
            const double bound = 1 / sqrt((double)mlp->width[l]);
            for (int64_t i = np_mlp_weight(mlp, l); i < np_mlp_weight(mlp, l + 1); i++)
                params[i] = (real)(bound * (2 * np_rng_uniform(key, stream, (uint64_t)i) - 1));
        }
    }
}
