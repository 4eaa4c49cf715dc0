#include <npagg/model.h>

#include "base/real.h"
#include "base/rng.h"

npagg_status NP_REAL(npagg_noise_fill)(uint64_t seed, uint64_t stream, int64_t n, real *out)
{
    if (n < 0 || (!out && n > 0))
        return NPAGG_E_ARG;
    for (int64_t i = 0; i < n; i++)
        out[i] = (real)np_rng_normal(seed, stream, (uint64_t)i);
    return NPAGG_OK;
}

/* As many bits as a real holds, so that rounding does not reach 1. */
static real uniform(uint64_t key, uint64_t stream, uint64_t i)
{
#if NP_REAL_BITS == 32
    return ((real)(np_rng_bits(key, stream, i) >> 41) + 0.5f) * 0x1p-23f;
#else
    return np_rng_uniform(key, stream, i);
#endif
}

npagg_status NP_REAL(npagg_uniform_fill)(uint64_t seed, uint64_t stream, int64_t n, real *out)
{
    if (n < 0 || (!out && n > 0))
        return NPAGG_E_ARG;
    for (int64_t i = 0; i < n; i++)
        out[i] = uniform(seed ^ NP_RNG_UNIFORM, stream, (uint64_t)i);
    return NPAGG_OK;
}
