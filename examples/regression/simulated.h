/* Tasks of the paper's 1-D experiments: functions drawn from a Gaussian process. */
#ifndef SIMULATED_H
#define SIMULATED_H

#include "batch.h"
#include "gp.h"

/* Context sizes are uniform in MIN..46, target sizes in MIN..49 - context; one size a batch. */
enum { SIMULATED_MIN = 3, SIMULATED_MAX_CONTEXT = 46, SIMULATED_POINTS = 49 };

typedef struct {
    int kind; /* GP_* */
} simulated;

/* A source of tasks; `self` must outlive it. x uniform in [-2, 2]. */
task_source simulated_source(const simulated *self);

/* Context values += level t, t Student-t with 2.1 degrees of freedom; for any source. */
void corrupt_context(const void *self, uint64_t seed, uint64_t index, double level, batch *out);

#endif /* SIMULATED_H */
