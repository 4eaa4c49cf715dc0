#include "base/cpu.h"
#include "pgm/dims.h"

const np_dims *np_dims_choose(uint32_t cpu)
{
#ifdef NP_HAVE_AVX512
    if ((cpu & NP_CPU_AVX512) && (cpu & NP_CPU_AVX2_FMA))
        return &np_dims_avx512;
#endif
#ifdef NP_HAVE_AVX2
    if (cpu & NP_CPU_AVX2_FMA)
        return &np_dims_avx2;
#endif
    (void)cpu;
    return &np_dims_plain;
}
