/*
 * An allocator that counts, fails on demand and distrusts: it fills new memory with junk, moves
 * every block it resizes, and notes wrong sizes, foreign pointers and calls from other threads.
 */
#ifndef METER_H
#define METER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include <npagg/npagg.h>

typedef struct {
    int64_t calls;     /* all calls, frees included */
    int64_t requests;  /* calls that ask for memory */
    int64_t fail_from; /* requests numbered fail_from .. fail_to, from 1, get NULL; 0 = none */
    int64_t fail_to;
    int64_t failed;        /* requests that got NULL */
    int64_t blocks, bytes; /* alive now */
    int64_t faults;        /* wrong old_size, foreign pointer, foreign thread */
    pthread_t owner;
} meter;

void meter_init(meter *m);
void *meter_alloc(void *user, void *p, size_t old_size, size_t new_size);

/* The n-th request from now on fails, n = 1 the next; `forever`: and all after it. */
void meter_fail_in(meter *m, int64_t n, int forever);
void meter_never_fail(meter *m);

/* A context that allocates here. */
npagg_ctx *meter_ctx(meter *m);

/* Everything was given back, with the right sizes. */
#define ASSERT_BALANCED(m) meter_check_balanced((m), __LINE__)
void meter_check_balanced(const meter *m, int line);

#endif /* METER_H */
