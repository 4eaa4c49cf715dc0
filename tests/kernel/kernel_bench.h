/*
 * A block of random rows, all that the kernels read, and every table this machine can run them
 * with. The including file sets NP_REAL_BITS.
 */
#ifndef KERNEL_BENCH_H
#define KERNEL_BENCH_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cpu.h"
#include "check.h"
#include "guarded.h"
#include "kernel/kernel.h"
#include "problem.h"

#define REAL_UNIT (NP_REAL_BITS == 32 ? 0x1p-24 : 0x1p-53)

typedef struct {
    const char *name;
    const np_kernels *table;
    uint32_t cpu; /* what it needs */
    double unit;  /* of its arithmetic */
} variant;

static const variant variants[] = {
    {"ref", &NP_REAL(np_kernels_ref), 0, 0x1p-53},
#ifdef NP_HAVE_AVX2
    {"avx2", &NP_REAL(np_kernels_avx2), NP_CPU_AVX2_FMA, REAL_UNIT},
#endif
#ifdef NP_HAVE_AVX512
    {"avx512", &NP_REAL(np_kernels_avx512), NP_CPU_AVX2_FMA | NP_CPU_AVX512, REAL_UNIT},
#endif
};

/* One block and all that any kernel reads, in guarded arrays. */
typedef struct {
    const variant *variant;
    np_block block;
    int64_t rows;                 /* of m and v; those outside of the block hold NaN */
    real *m, *v, *lam, *c;        /* [rows,d], [rows,d], [n,d], [n] */
    real *stored;                 /* [n,d], or NULL: where the kernel is to leave 1/v */
    np_term terms[NP_PUSH_TERMS]; /* also E, V, dL, dh of the others */
    char name[64];                /* for messages */
} bench;

static test_rng rng;

static real *new_reals(int64_t n)
{
    return guarded_create((size_t)n * sizeof(real));
}

static double *new_doubles(int64_t n)
{
    return guarded_create((size_t)n * sizeof(double));
}

static double *draw_doubles(int64_t n, int positive)
{
    double *x = new_doubles(n);
    for (int64_t j = 0; j < n; j++)
        x[j] = positive ? exp(rng_uniform(&rng, -4, 4)) : 2 * rng_normal(&rng);
    return x;
}

/* Row coefficients of both signs, some of them 0. */
static real *draw_coefficients(int64_t n)
{
    real *x = new_reals(n);
    for (int64_t i = 0; i < n; i++)
        x[i] = i % 5 == 3 ? 0 : (real)rng_normal(&rng);
    return x;
}

/* The rows of a block are some of the rows there are, in order. */
static void draw_rows(bench *k)
{
    int64_t *row = guarded_create((size_t)k->block.n * sizeof *row);
    int64_t d = k->block.d, at = 1;
    for (int64_t i = 0; i < k->block.n; i++, at += 1 + (i % 4 == 1)) {
        row[i] = at;
        for (int64_t j = 0; j < d; j++) {
            k->v[at * d + j] = (real)exp(rng_uniform(&rng, -8, 8));
            k->m[at * d + j] = (real)(rng_normal(&rng) * exp(rng_uniform(&rng, 0, 4)));
            k->lam[i * d + j] = 1 / k->v[at * d + j];
        }
    }
    k->block.row = row;
}

/* What a kernel is told of 1/v. */
typedef enum { LAM_KNOWN, LAM_STORED, LAM_FLEETING, LAM_WAYS } lam_way;

static void create_bench(bench *k, const variant *of, int64_t n, int64_t d, lam_way way)
{
    *k = (bench){.variant = of, .rows = 2 * n + 2, .block = {.n = n, .d = d}};
    snprintf(k->name, sizeof k->name, "%s, n = %" PRId64 ", d = %" PRId64, of->name, n, d);
    k->m = new_reals(k->rows * d);
    k->v = new_reals(k->rows * d);
    k->lam = new_reals(n * d);
    draw_rows(k);
    k->block.m = k->m;
    k->block.v = k->v;
    k->block.lam = way == LAM_KNOWN ? k->lam : NULL;
    k->block.store = k->stored = way == LAM_STORED ? new_reals(n * d) : NULL;
    k->c = draw_coefficients(n);
    for (int t = 0; t < NP_PUSH_TERMS; t++)
        k->terms[t] = (np_term){
            .dh = draw_doubles(d, 0),
            .dL = draw_doubles(d, 0),
            .E = draw_doubles(d, 0),
            .V = draw_doubles(d, 1),
            .a = draw_coefficients(n),
            .b = draw_coefficients(n),
        };
}

/* Fills the stack below with NaN: a kernel that reads scratch it has not written shows it. */
static __attribute__((noinline)) void poison_stack(void)
{
    volatile unsigned char scratch[1 << 16];
    for (size_t i = 0; i < sizeof scratch; i++)
        scratch[i] = 0xff;
}

/* Runs a check for every table of this machine and every size, each on its own arrays. */
static void for_every_size(void (*check)(bench *))
{
    static const int64_t ns[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 63, 64};
    static const int64_t ds[] = {1,  2,   3,   4,   5,   6,   7,   8,   9,    10,  11,
                                 12, 13,  14,  15,  16,  17,  18,  19,  20,   31,  32,
                                 33, 127, 128, 129, 255, 256, 257, 513, 1000, 1025};
    rng.state = 7;
    for (size_t f = 0; f < sizeof variants / sizeof variants[0]; f++)
        for (size_t i = 0; i < sizeof ns / sizeof ns[0]; i++)
            for (size_t j = 0; j < sizeof ds / sizeof ds[0]; j++) {
                bench k;
                const lam_way way = (lam_way)((i + j) % LAM_WAYS);
                const size_t fetching = i + j / LAM_WAYS;
                if ((variants[f].cpu & ~np_cpu_mask()) != 0 || (ns[i] == 63 && ds[j] > 257))
                    continue;
                create_bench(&k, &variants[f], ns[i], ds[j], way);
                k.block.ahead = fetching % 2 ? 16384 : 0;
                k.block.inner = fetching / 2 % 2;
                poison_stack();
                check(&k);
                guarded_check();
                guarded_destroy_all();
            }
}

/*
 * An error is measured in roundings: |got - want| <= roundings * unit * (sum of the absolute values
 * of all that was added). The reference computes in double, others in `real`.
 */

/* How often a term of a sum over d numbers is rounded: tiles of at most 32 vectors, then double. */
static double roundings_of_dims(const bench *k)
{
    const double d = (double)k->block.d;
    return 8 + (k->variant->unit > 0x1p-53 ? fmin(d, 40) : d);
}

static void expect(const bench *k, const char *what, int64_t i, long double want, double got,
                   double allowed)
{
    char name[128];
    if (fabs((double)want - got) <= allowed)
        return;
    snprintf(name, sizeof name, "%s[%" PRId64 "] of %s", what, i, k->name);
    check_close((double)want, got, 0, allowed, name, __LINE__);
}

static double m_of(const bench *k, int64_t i, int64_t j)
{
    return (double)k->m[k->block.row[i] * k->block.d + j];
}

static double lam_of(const bench *k, int64_t i, int64_t j)
{
    return (double)k->lam[i * k->block.d + j];
}

#endif /* KERNEL_BENCH_H */
