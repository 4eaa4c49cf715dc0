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

/* Leaf 7, and whether the system saves masks and the upper halves as well. */
static uint32_t avx512_mask(uint32_t b, uint32_t state)
{
    const uint32_t features = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    const uint32_t avx512_state = 0xe6;
    return (b & features) == features && (state & avx512_state) == avx512_state ? NP_CPU_AVX512 : 0;
}

/* The maker's name is in three registers, four letters each. */
static uint32_t inner_mask(void)
{
    uint32_t a, b, c, d;
    return __get_cpuid(0, &a, &b, &c, &d) && b == signature_AMD_ebx && c == signature_AMD_ecx &&
                   d == signature_AMD_edx
               ? NP_CPU_INNER
               : 0;
}

uint32_t np_cpu_mask(void)
{
    const uint32_t leaf1 = bit_FMA | bit_AVX | bit_OSXSAVE, avx_state = 6;
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & leaf1) != leaf1)
        return 0;
    const uint32_t state = saved_state();
    if ((state & avx_state) != avx_state)
        return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2))
        return 0;
    return NP_CPU_AVX2_FMA | avx512_mask(b, state) | inner_mask();
}
#else
uint32_t np_cpu_mask(void)
{
    return 0;
}
#endif
