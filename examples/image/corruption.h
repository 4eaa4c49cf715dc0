/*
 * Corruptions of grey values in [0, 1], severities 0..5, of which 0 changes nothing:
 *   gaussian  x + c N(0, 1)
 *   shot      Poisson(x c) / c
 *   impulse   a share c of the pixels becomes 0 or 1
 *   speckle   x + x c N(0, 1)
 * clipped to [0, 1], and
 *   pixelate  the image made smaller and large again, by nearest neighbours
 */
#ifndef CORRUPTION_H
#define CORRUPTION_H

#include <stdint.h>

enum {
    CORRUPT_GAUSSIAN,
    CORRUPT_SHOT,
    CORRUPT_IMPULSE,
    CORRUPT_SPECKLE,
    CORRUPT_NOISES, /* so many are noise */
    CORRUPT_PIXELATE = CORRUPT_NOISES,
};

enum { SEVERITY_MOST = 5 };

/* A noise of x in [0, 1], given two uniforms in (0, 1). */
double corrupt_value(int kind, int severity, double x, double u, double v);

/* Where along a side of n pixels pixel i gets its value from when it is pixelated. */
int64_t corrupt_place(int severity, int64_t n, int64_t i);

#endif /* CORRUPTION_H */
