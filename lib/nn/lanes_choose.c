#include "base/cpu.h"
#include "nn/lanes.h"

const np_lanes *NP_REAL(np_lanes_choose)(uint32_t cpu)
{
#ifdef NP_HAVE_AVX512
    if (cpu & NP_CPU_AVX512)
        return &NP_REAL(np_lanes_avx512);
#endif
#ifdef NP_HAVE_AVX2
    if (cpu & NP_CPU_AVX2_FMA)
        return &NP_REAL(np_lanes_avx2);
#endif
    (void)cpu;
    return &NP_REAL(np_lanes_plain);
}
