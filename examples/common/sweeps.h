/* Figures against the number of sweeps: --eval --sweeps N. */
#ifndef SWEEPS_H
#define SWEEPS_H

#include "examine.h"

/* For each file, after 1..N sweeps at the last level: bound of the evidence of the context, mean
 * over tasks, and the figures of evaluate.h. Returns the exit status. */
int sweeps_run(const examiner *e, int n, const char **files);

#endif /* SWEEPS_H */
