/* What this processor can do, as a mask; kernels are chosen by a pure function of it. */
#ifndef NP_CPU_H
#define NP_CPU_H

#include <stdint.h>

#define NP_CPU_AVX2_FMA 1u
#define NP_CPU_AVX512 2u /* F, BW, DQ, VL; never without the first */
/* Rows from memory are best asked for into the first-level cache. Zen cores wait for many lines at
 * once there; on Intel's, who have places for few, it costs more than it brings, as measured. */
#define NP_CPU_INNER 4u

uint32_t np_cpu_mask(void);

#endif /* NP_CPU_H */
