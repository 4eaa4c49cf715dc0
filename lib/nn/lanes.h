/*
 * Loops along rows that do little with each number. One source, lanes.c, is compiled for several
 * instruction sets and written so that compilers make vectors of it; without fused multiply-add, so
 * that all variants give the same bits.
 */
#ifndef NP_LANES_H
#define NP_LANES_H

#include <stdint.h>

#include "base/real.h"

typedef struct NP_REAL(np_lanes) {
    /* 1 if all of x [n] are finite. */
    int (*is_finite)(int64_t n, const real *x);

    /* to [n] = a b. */
    void (*multiply)(int64_t n, const real *a, const real *b, real *to);

    /* sum [width] += the rows of x [n,width] in order. */
    void (*add_rows)(int64_t n, int64_t width, const real *x, real *sum);

    /* sum [width] = sum + the rows of x [n,ldx] in order, in double; width <= NP_LANES_BLOCK. */
    void (*add_wide)(int64_t n, int64_t width, const real *x, int64_t ldx, real *sum);

    /* to [n,s,width] = x [n,width] + z [s,width], every pair of rows; relu: then max(to, 0). */
    void (*join)(int64_t n, int64_t s, int64_t width, const real *x, const real *z, int relu,
                 real *to);

    /* Its gradient from that of to, g: dx [n,width] = sum over s, dz [s] rows ldz apart = sum over
     * n. */
    void (*split)(int64_t n, int64_t s, int64_t width, const real *g, real *dx, real *dz,
                  int64_t ldz);

    /*
     * v [n] = lo + span sigmoid(a), slope [n] = dv/da; v is never below lo. sigmoid to 3 ulp, its
     * slope to 6.
     */
    void (*sigmoid)(int64_t n, real lo, real span, const real *a, real *v, real *slope);

    /* v [n] = lo + span log(1 + e^a), slope [n] = dv/da. softplus to 4 ulp. */
    void (*softplus)(int64_t n, real lo, real span, const real *a, real *v, real *slope);

    /* x [n], n >= 1, becomes e^x / sum e^x = e^(x - stats[0]) stats[1]; it fills stats [2]. */
    void (*softmax)(int64_t n, real *x, real *stats);

    /* The same from the stats of another call, with its bits. */
    void (*softmax_again)(int64_t n, const real *stats, real *x);

    /* g [n], the gradient of the softmax p [n], becomes that of x: p (g - sum p g), sum given. */
    void (*softmax_backward)(int64_t n, const real *p, real sum, real *g);

    /*
     * y = gain (x - mean) / sd + bias on every row of x [n,width], with its own mean and
     * sd^2 = variance + NP_NORM_EPS; stats [n,2] gets mean and 1/sd.
     */
    void (*norm)(int64_t n, int64_t width, const real *x, const real *gain, const real *bias,
                 real *stats, real *y);

    /* dx [n,width] from g, the gradient of y; dgain, dbias [width] +=, unless NULL. */
    void (*norm_backward)(int64_t n, int64_t width, const real *x, const real *gain,
                          const real *stats, const real *g, real *dx, real *dgain, real *dbias);
} NP_REAL(np_lanes);
#define np_lanes NP_REAL(np_lanes)

#define NP_LANES_BLOCK 2048
#define NP_NORM_EPS 1e-5

/* The best for a CPU mask (base/cpu.h). */
const np_lanes *NP_REAL(np_lanes_choose)(uint32_t cpu);

extern const np_lanes NP_REAL(np_lanes_plain);
#ifdef NP_HAVE_AVX2
extern const np_lanes NP_REAL(np_lanes_avx2);
#endif
#ifdef NP_HAVE_AVX512
extern const np_lanes NP_REAL(np_lanes_avx512);
#endif

#endif /* NP_LANES_H */
