/*
 * Vectors of reals for kernel_simd.c: NP_LANE_BYTES is 32 for AVX2, 64 for AVX-512. The rest of the
 * kernels is one source for both.
 */
#ifndef NP_VECTOR_H
#define NP_VECTOR_H

#include <immintrin.h>
#include <stdint.h>

#include "base/real.h"

enum { W = NP_LANE_BYTES / (int)sizeof(real) };

typedef real vec __attribute__((vector_size(NP_LANE_BYTES)));
typedef real loose_vec
    __attribute__((vector_size(NP_LANE_BYTES), aligned(sizeof(real)), may_alias));

/* Into each kind of rows that a kernel knows, but for the sanitizers, who would take minutes to
 * compile every copy. */
#ifdef __SANITIZE_ADDRESS__
#define INLINE static inline
#else
#define INLINE static inline __attribute__((always_inline))
#endif

#if NP_REAL_BITS == 32
typedef int32_t lane;
#define LANE_MAX INT32_MAX
#else
typedef int64_t lane;
#define LANE_MAX INT64_MAX
#endif
typedef lane bits __attribute__((vector_size(NP_LANE_BYTES)));

#if NP_LANE_BYTES == 64
#if NP_REAL_BITS == 32
#define MASK_LOAD(p, n) (vec) _mm512_maskz_loadu_ps(first_lanes(n), (p))
#define MASK_LOAD_OR(p, n, x) (vec) _mm512_mask_loadu_ps((x), first_lanes(n), (p))
#define MASK_STORE(p, n, x) _mm512_mask_storeu_ps((p), first_lanes(n), (x))
#define VEC_FMA(a, b, c) (vec) _mm512_fmadd_ps((a), (b), (c))
#define BITS_MIN(a, b) (bits) _mm512_min_epi32((__m512i)(a), (__m512i)(b))
#define BITS_MAX(a, b) (bits) _mm512_max_epi32((__m512i)(a), (__m512i)(b))
#else
#define MASK_LOAD(p, n) (vec) _mm512_maskz_loadu_pd(first_lanes(n), (p))
#define MASK_LOAD_OR(p, n, x) (vec) _mm512_mask_loadu_pd((x), first_lanes(n), (p))
#define MASK_STORE(p, n, x) _mm512_mask_storeu_pd((p), first_lanes(n), (x))
#define VEC_FMA(a, b, c) (vec) _mm512_fmadd_pd((a), (b), (c))
#define BITS_MIN(a, b) (bits) _mm512_min_epi64((__m512i)(a), (__m512i)(b))
#define BITS_MAX(a, b) (bits) _mm512_max_epi64((__m512i)(a), (__m512i)(b))
#endif

/* The first n < W lanes. */
INLINE __mmask16 first_lanes(int64_t n)
{
    return (__mmask16)((1u << n) - 1);
}
#else
#if NP_REAL_BITS == 32
#define MASK_LOAD(p, n) (vec) _mm256_maskload_ps((p), first_lanes(n))
#define MASK_LOAD_OR(p, n, x)                                                                      \
    (vec) _mm256_blendv_ps((x), MASK_LOAD(p, n), _mm256_castsi256_ps(first_lanes(n)))
#define MASK_STORE(p, n, x) _mm256_maskstore_ps((p), first_lanes(n), (x))
#define VEC_FMA(a, b, c) (vec) _mm256_fmadd_ps((a), (b), (c))
#define BITS_MIN(a, b) (bits) _mm256_min_epi32((__m256i)(a), (__m256i)(b))
#define BITS_MAX(a, b) (bits) _mm256_max_epi32((__m256i)(a), (__m256i)(b))
#else
#define MASK_LOAD(p, n) (vec) _mm256_maskload_pd((p), first_lanes(n))
#define MASK_LOAD_OR(p, n, x)                                                                      \
    (vec) _mm256_blendv_pd((x), MASK_LOAD(p, n), _mm256_castsi256_pd(first_lanes(n)))
#define MASK_STORE(p, n, x) _mm256_maskstore_pd((p), first_lanes(n), (x))
#define VEC_FMA(a, b, c) (vec) _mm256_fmadd_pd((a), (b), (c))
#define BITS_MIN(a, b) (((a) & ((a) < (b))) | ((b) & ((a) >= (b))))
#define BITS_MAX(a, b) (((a) & ((a) > (b))) | ((b) & ((a) <= (b))))
#endif

/* All ones in the first n < W lanes. */
INLINE __m256i first_lanes(int64_t n)
{
    static const lane ones[2 * W] = {
        -1,
        -1,
        -1,
        -1,
#if NP_REAL_BITS == 32
        -1,
        -1,
        -1,
        -1,
#endif
    };
    return _mm256_loadu_si256((const __m256i *)(const void *)(ones + W - n));
}
#endif

INLINE vec splat(real x)
{
    return x - (vec){0};
}

/* a b + c, rounded once. Written out where kernels must have the same bits whatever is known of
 * their rows: which products a compiler joins to a sum depends on what stands between the two. */
INLINE vec mad(vec a, vec b, vec c)
{
    return VEC_FMA(a, b, c);
}

/* Keeps x where it is in the order of what is computed: compilers move a chain of sums to where its
 * end is read, and then it has to wait for itself. */
INLINE void pin(vec *x)
{
    __asm__("" : "+v"(*x));
}

INLINE vec load(const real *p)
{
    return *(const loose_vec *)p;
}

INLINE void store(real *p, vec x)
{
    *(loose_vec *)p = x;
}

/* The first n lanes from p, the rest 0; n >= W reads all. */
INLINE vec load_n(const real *p, int64_t n)
{
    return n >= W ? load(p) : MASK_LOAD(p, n);
}

/* The same with 1 in the rest. */
INLINE vec load_or_one(const real *p, int64_t n)
{
    return n >= W ? load(p) : MASK_LOAD_OR(p, n, splat(1));
}

INLINE void store_n(real *p, int64_t n, vec x)
{
    if (n >= W)
        store(p, x);
    else
        MASK_STORE(p, n, x);
}

/* Four doubles that add up to x's lanes; floats are added to four first. */
typedef double quarter __attribute__((vector_size(32)));

INLINE quarter fold(vec x)
{
#if NP_REAL_BITS == 64
#if NP_LANE_BYTES == 64
    return (quarter)_mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd(x, 1));
#else
    return x;
#endif
#else
#if NP_LANE_BYTES == 64
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
#else
    const __m256 half = x;
#endif
    return (quarter)_mm256_cvtps_pd(
        _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
#endif
}

/* out [4] += the sums over all lanes of x [4], in double. */
INLINE void add_sums_of_four(const vec x[4], double *out)
{
    const __m256d ab = _mm256_hadd_pd(fold(x[0]), fold(x[1])),
                  cd = _mm256_hadd_pd(fold(x[2]), fold(x[3]));
    const __m256d sums =
        _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20), _mm256_permute2f128_pd(ab, cd, 0x31));
    _mm256_storeu_pd(out, _mm256_add_pd(_mm256_loadu_pd(out), sums));
}

/* The same of one vector; the same bits. */
INLINE double sum_of_one(vec x)
{
    const quarter y = fold(x);
    return (y[0] + y[1]) + (y[2] + y[3]);
}

#endif /* NP_VECTOR_H */
