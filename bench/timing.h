/* Blocks: calls of a row's work, timed together. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include "work.h"

typedef struct timing_block {
    double seconds; /* per call: the mean, or the median where calls are timed one by one */
    int64_t calls;
} timing_block;

double timing_now(void); /* seconds of a steady clock */

/* From now on it is the process's processor time: for one thread on a machine with other work. */
void timing_set_cpu(void);

/* Sorts; the value at the given share, 0.5 the median. */
double timing_quantile(double *value, int64_t n, double share);

/* One untimed call, then calls for about so many seconds, at least one. */
timing_block timing_run(work *w, double seconds);

/* Kilobytes the process has now and had at most, from /proc/self/status; -1 elsewhere. */
int64_t timing_memory(const char *field);

#endif /* BENCH_TIMING_H */
