/*
 * What a training step needs, drawn by a thread of its own while the step before it is computed.
 * Everything is a function of the step, so the thread changes when it is made and nothing else.
 */
#ifndef PREFETCH_H
#define PREFETCH_H

#include "batch.h"

typedef struct {
    batch *tasks;
    float *noise; /* [tasks, samples, D] */
} step_input;

typedef struct prefetch prefetch;

/* From step `first` on. background 0, or no thread to be had: drawn when asked for. `source` must
 * outlive it. */
prefetch *prefetch_create(const task_source *source, uint64_t seed, int64_t tasks, int64_t noise,
                          int64_t first, int background);
void prefetch_destroy(prefetch *p);

/* The input of the next step, valid until the next call. */
const step_input *prefetch_next(prefetch *p);

#endif /* PREFETCH_H */
