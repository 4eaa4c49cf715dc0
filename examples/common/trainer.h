/* The training loop: batches of a source, Adam, checkpoints, log, progress, signals. */
#ifndef TRAINER_H
#define TRAINER_H

#include <npagg/npagg.h>

#include "batch.h"
#include "settings.h"

/* What a program exits with. A signal's status is in stopping.h. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/*
 * Trains as the settings say, from the beginning or from the checkpoint; held-out figures are of
 * `watch`, which may be the same source. Returns the exit status; all complaints have been made.
 */
int trainer_run(npagg_ctx *ctx, const option_set *set, const settings *s, const task_source *source,
                const task_source *watch);

#endif /* TRAINER_H */
