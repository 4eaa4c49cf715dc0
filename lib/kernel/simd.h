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

int NP_SIMD_NAME(np_visit)(const np_block *k, const double *E, const double *a, const double *b,
                           const np_visit *visit);
int NP_SIMD_NAME(np_visit_pairs)(const np_pairs *k, const real *a, const real *b,
                                 const np_visit *visit);
void NP_SIMD_NAME(np_pair_quad)(int64_t d, const double *E, const double *V, const double *centre,
                                const double *V_0, real *a, real *b);
void NP_SIMD_NAME(np_logs)(const np_block *k, double *out);
void NP_SIMD_NAME(np_log1p)(int64_t n, const double *x, double *out);
void NP_SIMD_NAME(np_pair_dot)(int64_t d, const double *E, const double *dL, const double *dh,
                               const double *centre, real *a, real *b);

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

/*
 * What a kernel knows of its rows when it is compiled: whether 1/v has to be computed, and whether
 * they may come from memory. Then they are read one by one, in its order, and asked for early, into
 * the cache that suits the processor: what it fetches of its own accord ends at every page, and is
 * not enough for kernels that do much with a row. Rows that are in cache already are not asked for:
 * they would be looked up twice.
 */
enum { KNOWN = 0, FRESH = 1, FAR = 2, INNER = 4 };

INLINE void ask(const real *p, int kind, int64_t ahead)
{
    if ((kind & (FAR | INNER)) == FAR)
        __builtin_prefetch((const char *)p + ahead, 0, 2);
    else if (kind & FAR)
        __builtin_prefetch((const char *)p + ahead, 0, 3);
}

/* A row of the block from dimension j0 on. */
typedef struct strip {
    const real *m, *lam; /* lam is v if 1/v is not known */
    real *store;         /* or NULL */
    int64_t ahead;
} strip;

INLINE strip take_strip(const np_block *k, int kind, int64_t i, int64_t j0)
{
    const int64_t row = k->row[i] * k->d + j0, at = i * k->d + j0;
    return (strip){
        .m = k->m + row,
        .lam = kind & FRESH ? k->v + row : k->lam + at,
        .store = kind & FRESH && k->store ? k->store + at : NULL,
        .ahead = k->ahead,
    };
}

/* n lanes of 1/v; 1 behind the end if it is computed here. */
INLINE vec take_lam(const strip *s, int kind, int64_t j, int64_t n)
{
    if (!(kind & FRESH))
        return load_n(s->lam + j, n);
    const vec lam = splat(1) / load_or_one(s->lam + j, n);
    ask(s->m + j, kind, s->ahead);
    ask(s->lam + j, kind, s->ahead);
    if (s->store)
        store_n(s->store + j, n, lam);
    return lam;
}

#endif /* NP_SIMD_H */
