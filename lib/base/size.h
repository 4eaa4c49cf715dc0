/* Sizes that cannot wrap: 0 if the result does not fit, 1 with *out set otherwise. Arguments are >=
 * 0. */
#ifndef NP_SIZE_H
#define NP_SIZE_H

#include <stdint.h>

#if PTRDIFF_MAX < INT64_MAX
#define NP_SIZE_MAX ((int64_t)PTRDIFF_MAX)
#define NP_SIZE_HALF 15
#else
#define NP_SIZE_MAX INT64_MAX
#define NP_SIZE_HALF 31
#endif

/* Numbers of half the bits always fit; there is no need for a division, which takes some processors
 * as long as a hundred additions. */
static inline int np_size_mul(int64_t a, int64_t b, int64_t *out)
{
    if ((a | b) >> NP_SIZE_HALF != 0 && b != 0 && a > NP_SIZE_MAX / b)
        return 0;
    *out = a * b;
    return 1;
}

static inline int np_size_add(int64_t a, int64_t b, int64_t *out)
{
    if (a > NP_SIZE_MAX - b)
        return 0;
    *out = a + b;
    return 1;
}

static inline int64_t np_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t np_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif /* NP_SIZE_H */
