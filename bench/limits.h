/* What the machine can do at most, measured: limits.c times these loops on some threads. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* A thread's share of a measurement: repeats a loop over its own arrays. */
typedef struct limit_job {
    void (*run)(struct limit_job *job);
    int64_t repeats;
    float *a, *b, *c;       /* its arrays */
    int64_t count;          /* numbers in a and in b */
    int64_t rows, in, out;  /* of a layer */
    double seconds, result; /* it took; a number that depends on all of it */
} limit_job;

/* Multiply-adds in registers: count does not matter. Flops of one repeat; 0: not on this CPU. */
double limit_fma_avx2(limit_job *job);
double limit_fma_avx512(limit_job *job);

/* Bytes of one repeat: a read; b = a; a += b. */
double limit_read(limit_job *job);
double limit_copy(limit_job *job);
double limit_memcpy(limit_job *job);
double limit_update(limit_job *job);

/* The three products of a layer, forward, backward, gradient of the weights, by BLIS. Flops. */
double limit_layer(limit_job *job);

#endif /* BENCH_LIMITS_H */
