/* What this processor can do, as a mask; kernels are chosen by a pure function of it. */
#ifndef NP_CPU_H
#define NP_CPU_H

#include <stdint.h>

#define NP_CPU_AVX2_FMA 1u
#define NP_CPU_AVX512 2u /* F, BW, DQ, VL; never without the first */

uint32_t np_cpu_mask(void);

#endif /* NP_CPU_H */
