/* One source for both precisions: such files are compiled with NP_REAL_BITS 32 and again with 64.
 */
#ifndef NP_REAL_H
#define NP_REAL_H

#include <float.h>

#if NP_REAL_BITS == 32
typedef float real;
#define NP_REAL(name) name##_f32
#define NP_REAL_MAX FLT_MAX
#elif NP_REAL_BITS == 64
typedef double real;
#define NP_REAL(name) name##_f64
#define NP_REAL_MAX DBL_MAX
#else
#error "this file is compiled once per precision, with NP_REAL_BITS 32 or 64"
#endif

/* x as a real; a finite x beyond the largest real becomes the largest real. NaN stays NaN. */
static inline real np_saturate(double x)
{
    const double top = (double)NP_REAL_MAX, y = x > top ? top : x;
    return (real)(y < -top ? -top : y); /* one step at a time: compilers know these as min, max */
}

#endif /* NP_REAL_H */
