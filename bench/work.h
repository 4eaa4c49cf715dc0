/* The work of one row: set up once, then run any number of times. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include <npagg/npagg.h>
#include <stddef.h>

#include "row.h"

typedef struct work work;

struct work {
    row row;
    npagg_ctx *ctx;
    size_t array_bytes;                              /* of the caller's arrays m, v, dm, dv */
    void (*run)(work *w);                            /* once */
    void (*begin)(work *w);                          /* before a block: everything as at first */
    void (*dump)(const work *w, const char *folder); /* inputs and the results of one run */
    void (*destroy)(work *w);
};

/* Ends the program if anything fails; so do all functions here. */
work *work_create_infer(const row *r, int32_t threads);
work *work_create_step(const row *r, int32_t threads);
work *work_create(const row *r, int32_t threads);

/* Prints what the context says and ends, unless status is NPAGG_OK. */
void work_check(const npagg_ctx *ctx, npagg_status status);

/* Zeros, aligned to a cache line. */
void *work_array(int64_t n, size_t size);

/* n numbers; noise repeats itself after 2^20. */
void work_fill_normal(uint64_t stream, int64_t n, float *out);
void work_fill_uniform(uint64_t stream, int64_t n, float lo, float hi, float *out);

/* folder/name: n numbers, raw. */
void work_write(const char *folder, const char *name, const float *array, int64_t n);

#endif /* BENCH_WORK_H */
