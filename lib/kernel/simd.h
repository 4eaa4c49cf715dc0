/* What the vector kernels share: names, staged vectors, strips of rows. */
#ifndef NP_SIMD_H
#define NP_SIMD_H

#include "kernel/kernel.h"
#include "kernel/vector.h"

/* np_x_avx2_f32 and so on; NP_SIMD is the instruction set's name. */
#define NP_SIMD_PASTE(name, simd) NP_REAL(name##simd)
#define NP_SIMD_JOIN(name, simd) NP_SIMD_PASTE(name, simd)
#define NP_SIMD_NAME(name) NP_SIMD_JOIN(name##_, NP_SIMD)

/* As in the table of kernels. */
void NP_SIMD_NAME(np_push)(const np_block *k, int64_t n_terms, const np_term *terms, const real *c,
                           real *dm, real *dv);

enum { TILE = 256, ROWS = 4 }; /* dimensions that are staged at a time, rows of a strip */

/* src [n] rounded to real, padded with zeros to whole vectors. */
static inline void stage(real *dst, const double *src, int64_t n)
{
    int64_t j = 0;
    for (; j < n; j++)
        dst[j] = (real)src[j];
    for (; j % W != 0; j++)
        dst[j] = 0;
}

/* What rows are compared with is high + low, so that m - E is as good as m is also where the two
 * are close. */
static inline void stage_centre(real *high, real *low, const double *src, int64_t n)
{
    int64_t j = 0;
    for (; j < n; j++) {
        high[j] = (real)src[j];
        low[j] = (real)(src[j] - (double)high[j]);
    }
    for (; j % W != 0; j++)
        high[j] = low[j] = 0;
}

/* What a kernel knows of 1/v when it is compiled: all of it, or nothing, of rows that are in the
 * nearest caches or are not. */
enum { KNOWN, KNOWN_FAR, FRESH, FRESH_FAR };

INLINE int how_fresh(const np_block *k)
{
    return (k->lam ? KNOWN : FRESH) + (k->far != 0);
}

/* Rows i .. i+R-1 of the block from dimension j0 on. */
typedef struct strip {
    const real *m[ROWS], *lam[ROWS]; /* lam is v if 1/v is not known */
    real *store[ROWS];               /* or NULL */
} strip;

INLINE strip take_strip(const np_block *k, int R, int fresh, int64_t i, int64_t j0)
{
    strip s;
    for (int r = 0; r < R; r++) {
        const int64_t row = k->row[i + r] * k->d + j0, at = (i + r) * k->d + j0;
        s.m[r] = k->m + row;
        s.lam[r] = fresh >= FRESH ? k->v + row : k->lam + at;
        s.store[r] = fresh >= FRESH && k->store ? k->store + at : NULL;
    }
    return s;
}

/* Rows that come from memory are asked for so many bytes ahead: four rows at a time are too many
 * streams for the processor to do it. */
enum { AHEAD = 2048 };

INLINE void ask(int fresh, const real *p)
{
    if (fresh == FRESH_FAR || fresh == KNOWN_FAR)
        __builtin_prefetch((const char *)p + AHEAD);
}

/* n lanes of 1/v of row r; 1 behind the end if it is computed here. */
INLINE vec take_lam(const strip *s, int r, int fresh, int64_t j, int64_t n)
{
    if (fresh < FRESH)
        return load_n(s->lam[r] + j, n);
    const vec lam = splat(1) / load_or_one(s->lam[r] + j, n);
    ask(fresh, s->m[r] + j);
    ask(fresh, s->lam[r] + j);
    if (s->store[r])
        store_n(s->store[r] + j, n, lam);
    return lam;
}

#endif /* NP_SIMD_H */
