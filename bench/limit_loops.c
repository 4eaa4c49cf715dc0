#include "limits.h"

#include <blis.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { FMA_STEPS = 4096, CHAINS = 12 };

#if defined(__x86_64__)
/* Twelve chains: latency 4 times two units a cycle, and some. */
__attribute__((target("avx2,fma"))) double limit_fma_avx2(limit_job *job)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return 0;
    __m256 x[CHAINS];
    const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-3f);
    for (int i = 0; i < CHAINS; i++)
        x[i] = _mm256_set1_ps((float)i);
    for (int64_t r = 0; r < job->repeats * FMA_STEPS; r++)
        for (int i = 0; i < CHAINS; i++)
            x[i] = _mm256_fmadd_ps(x[i], a, b);
    for (int i = 0; i < CHAINS; i++)
        job->result += (double)_mm256_cvtss_f32(x[i]);
    return 2.0 * 8 * CHAINS * FMA_STEPS;
}

__attribute__((target("avx512f"))) double limit_fma_avx512(limit_job *job)
{
    if (!__builtin_cpu_supports("avx512f"))
        return 0;
    __m512 x[CHAINS];
    const __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(1e-3f);
    for (int i = 0; i < CHAINS; i++)
        x[i] = _mm512_set1_ps((float)i);
    for (int64_t r = 0; r < job->repeats * FMA_STEPS; r++)
        for (int i = 0; i < CHAINS; i++)
            x[i] = _mm512_fmadd_ps(x[i], a, b);
    for (int i = 0; i < CHAINS; i++)
        job->result += (double)_mm512_cvtss_f32(x[i]);
    return 2.0 * 16 * CHAINS * FMA_STEPS;
}
#else
double limit_fma_avx2(limit_job *job)
{
    (void)job;
    return 0;
}

double limit_fma_avx512(limit_job *job)
{
    (void)job;
    return 0;
}
#endif

/* GNU vectors of 8 floats: AVX where there is, pairs of smaller ones elsewhere. */
typedef float vec __attribute__((vector_size(32)));

#if defined(__x86_64__)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif

CLONES double limit_read(limit_job *job)
{
    const int64_t n = job->count / 64 * 8;
    vec s[8] = {{0}};
    for (int64_t r = 0; r < job->repeats; r++) {
        const vec *a = (const vec *)job->a;
        __asm__ volatile("" ::: "memory");
        for (int64_t i = 0; i < n; i += 8)
            for (int k = 0; k < 8; k++)
                s[k] += a[i + k];
    }
    for (int k = 0; k < 8; k++)
        job->result += (double)s[k][0];
    return (double)n * sizeof(vec);
}

CLONES double limit_copy(limit_job *job)
{
    const int64_t n = job->count / 64 * 8;
    for (int64_t r = 0; r < job->repeats; r++) {
        const vec *a = (const vec *)job->a;
        vec *b = (vec *)job->b;
        for (int64_t i = 0; i < n; i += 8)
            for (int k = 0; k < 8; k++)
                b[i + k] = a[i + k];
        __asm__ volatile("" ::: "memory");
    }
    return 2 * (double)n * sizeof(vec);
}

double limit_memcpy(limit_job *job)
{
    for (int64_t r = 0; r < job->repeats; r++) {
        memcpy(job->b, job->a, sizeof(float) * (size_t)job->count);
        __asm__ volatile("" ::: "memory");
    }
    return 2 * (double)job->count * sizeof(float);
}

CLONES double limit_update(limit_job *job)
{
    const int64_t n = job->count / 64 * 8;
    for (int64_t r = 0; r < job->repeats; r++) {
        const vec *b = (const vec *)job->b;
        vec *a = (vec *)job->a;
        for (int64_t i = 0; i < n; i += 8)
            for (int k = 0; k < 8; k++)
                a[i + k] += b[i + k];
        __asm__ volatile("" ::: "memory");
    }
    return 3 * (double)n * sizeof(vec);
}

/* C [m,n] = A B + beta C with strides, on the calling thread. */
static void multiply(int64_t m, int64_t n, int64_t k, float *a, int64_t rs_a, int64_t cs_a,
                     float *b, float beta, float *c)
{
    rntm_t one = BLIS_RNTM_INITIALIZER;
    float alpha = 1;
    bli_rntm_set_num_threads(1, &one);
    bli_sgemm_ex(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, m, n, k, &alpha, a, rs_a, cs_a, b, n, 1,
                 &beta, c, n, 1, NULL, &one);
}

/* a: inputs [R,in]; b: outputs [R,out]; c: weights [in,out], turned [out,in], gradient [in,out]. */
double limit_layer(limit_job *job)
{
    const int64_t rows = job->rows, in = job->in, out = job->out;
    float *weights = job->c, *turned = weights + in * out, *gradient = turned + in * out;
    for (int64_t r = 0; r < job->repeats; r++) {
        multiply(rows, out, in, job->a, in, 1, weights, 0, job->b);
        multiply(rows, in, out, job->b, out, 1, turned, 0, job->a);
        multiply(in, out, rows, job->a, 1, in, job->b, 0, gradient);
    }
    return 6.0 * (double)rows * (double)in * (double)out;
}
