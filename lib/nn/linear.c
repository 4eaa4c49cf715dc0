#include "nn/linear.h"

#include <string.h>

#include "base/cpu.h"
#include "base/size.h"
#include "kernel/gemm_simd.h"
#include "nn/lanes.h"

enum { TURN_BLOCK = 16 };

void NP_REAL(np_linear_turn)(int64_t in, int64_t out, const real *w, real *wt)
{
    for (int64_t i0 = 0; i0 < out; i0 += TURN_BLOCK)
        for (int64_t j0 = 0; j0 < in; j0 += TURN_BLOCK)
            for (int64_t j = j0; j < np_min(in, j0 + TURN_BLOCK); j++)
                for (int64_t i = i0; i < np_min(out, i0 + TURN_BLOCK); i++)
                    wt[j * out + i] = w[i * in + j];
}

static void forward_plain(int64_t n, int64_t in, int64_t out, const real *wt, const real *b,
                          int relu, const real *x, real *y)
{
    for (int64_t i = 0; i < n && b; i++)
        memcpy(y + i * out, b, (size_t)out * sizeof(real));
    NP_REAL(np_gemm)(NP_GEMM_NN, n, out, in, x, in, wt, out, b ? 1 : 0, y, out);
    for (int64_t i = 0; i < n * out && relu; i++)
        y[i] = y[i] < 0 ? 0 : y[i];
}

static void backward_plain(int64_t n, int64_t in, int64_t out, const real *w, int64_t ldw,
                           const real *g, real beta, const real *relu, real *dx)
{
    NP_REAL(np_gemm)(NP_GEMM_NN, n, in, out, g, out, w, ldw, beta, dx, in);
    for (int64_t i = 0; i < n * in && relu; i++)
        dx[i] = relu[i] > 0 ? dx[i] : 0;
}

static void backward_params_plain(int64_t n, int64_t in, int64_t out, const real *x, const real *g,
                                  real *dw, int64_t ldw, real *db)
{
    NP_REAL(np_gemm)(NP_GEMM_TN, out, in, n, g, out, x, in, 1, dw, ldw);
    if (db)
        NP_REAL(np_lanes_plain).add_rows(n, out, g, db);
}

static const np_linear plain = {1, forward_plain, backward_plain, backward_params_plain};

/* The same three by a kernel with a tail. */
static inline void forward_by(np_gemm_fn *gemm, int64_t n, int64_t in, int64_t out, const real *wt,
                              const real *b, int relu, const real *x, real *y)
{
    const np_gemm_tail tail = {.bias = b, .relu = relu};
    gemm(NP_GEMM_NN, n, out, in, x, in, wt, out, 0, &tail, y, out);
}

static inline void backward_by(np_gemm_fn *gemm, int64_t n, int64_t in, int64_t out, const real *w,
                               int64_t ldw, const real *g, real beta, const real *relu, real *dx)
{
    const np_gemm_tail tail = {.where = relu};
    gemm(NP_GEMM_NN, n, in, out, g, out, w, ldw, beta, &tail, dx, in);
}

static inline void backward_params_by(np_gemm_fn *gemm, const np_lanes *lanes, int64_t n,
                                      int64_t in, int64_t out, const real *x, const real *g,
                                      real *dw, int64_t ldw, real *db)
{
    const np_gemm_tail none = {0};
    gemm(NP_GEMM_TN, out, in, n, g, out, x, in, 1, &none, dw, ldw);
    if (db)
        lanes->add_rows(n, out, g, db);
}

#ifdef NP_HAVE_AVX2
static void forward_avx2(int64_t n, int64_t in, int64_t out, const real *wt, const real *b,
                         int relu, const real *x, real *y)
{
    forward_by(NP_REAL(np_gemm_avx2), n, in, out, wt, b, relu, x, y);
}

static void backward_avx2(int64_t n, int64_t in, int64_t out, const real *w, int64_t ldw,
                          const real *g, real beta, const real *relu, real *dx)
{
    backward_by(NP_REAL(np_gemm_avx2), n, in, out, w, ldw, g, beta, relu, dx);
}

static void backward_params_avx2(int64_t n, int64_t in, int64_t out, const real *x, const real *g,
                                 real *dw, int64_t ldw, real *db)
{
    backward_params_by(NP_REAL(np_gemm_avx2), &NP_REAL(np_lanes_avx2), n, in, out, x, g, dw, ldw,
                       db);
}

static const np_linear avx2 = {0, forward_avx2, backward_avx2, backward_params_avx2};
#endif

#ifdef NP_HAVE_AVX512
static void forward_avx512(int64_t n, int64_t in, int64_t out, const real *wt, const real *b,
                           int relu, const real *x, real *y)
{
    forward_by(NP_REAL(np_gemm_avx512), n, in, out, wt, b, relu, x, y);
}

static void backward_avx512(int64_t n, int64_t in, int64_t out, const real *w, int64_t ldw,
                            const real *g, real beta, const real *relu, real *dx)
{
    backward_by(NP_REAL(np_gemm_avx512), n, in, out, w, ldw, g, beta, relu, dx);
}

static void backward_params_avx512(int64_t n, int64_t in, int64_t out, const real *x, const real *g,
                                   real *dw, int64_t ldw, real *db)
{
    backward_params_by(NP_REAL(np_gemm_avx512), &NP_REAL(np_lanes_avx512), n, in, out, x, g, dw,
                       ldw, db);
}

static const np_linear avx512 = {0, forward_avx512, backward_avx512, backward_params_avx512};
#endif

const np_linear *NP_REAL(np_linear_choose)(uint32_t cpu)
{
#ifdef NP_HAVE_AVX512
    if (cpu & NP_CPU_AVX512)
        return &avx512;
#endif
#ifdef NP_HAVE_AVX2
    if (cpu & NP_CPU_AVX2_FMA)
        return &avx2;
#endif
    (void)cpu;
    return &plain;
}
