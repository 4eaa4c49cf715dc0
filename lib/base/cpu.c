#include "base/cpu.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

/* The state components that the system saves on a task switch (XCR0). */
static uint32_t saved_state(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

uint32_t np_cpu_mask(void)
{
    const uint32_t leaf1 = bit_FMA | bit_AVX | bit_OSXSAVE, avx_state = 6, avx512_state = 0xe6;
    const uint32_t avx512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & leaf1) != leaf1)
        return 0;
    if ((saved_state() & avx_state) != avx_state)
        return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2))
        return 0;
    if ((b & avx512) != avx512 || (saved_state() & avx512_state) != avx512_state)
        return NP_CPU_AVX2_FMA;
    return NP_CPU_AVX2_FMA | NP_CPU_AVX512;
}
#else
uint32_t np_cpu_mask(void)
{
    return 0;
}
#endif
