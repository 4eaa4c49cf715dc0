#include "nn/init.h"

#include <math.h>

#include "base/rng.h"

static void fill(int64_t n, real value, real *to)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = value;
}

static void init_layer(const np_mlp *mlp, int32_t l, uint64_t key, uint64_t stream, real *params)
{
    const double bound = 1 / sqrt((double)mlp->width[l]);
    for (int64_t i = np_mlp_weight(mlp, l); i < np_mlp_weight(mlp, l + 1); i++)
        params[i] = (real)(bound * (2 * np_rng_uniform(key, stream, (uint64_t)i) - 1));
}

void NP_REAL(np_nets_init)(const np_nets *nets, uint64_t seed, uint64_t stream, real *params)
{
    for (int32_t n = 0; n < nets->n; n++) {
        const np_mlp *mlp = &nets->net[n];
        if (mlp->kind == NP_NET_NORM) {
            fill(mlp->width[1], 1, params + np_mlp_weight(mlp, 0));
            fill(mlp->width[1], 0, params + np_mlp_bias(mlp, 0));
            continue;
        }
        for (int32_t l = 0; l < mlp->layers; l++)
            init_layer(mlp, l, seed ^ NP_RNG_INIT, stream, params);
    }
}
