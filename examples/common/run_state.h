/*
 * The state of a run, all of it: parameters, both averages of Adam, the step, what the log has
 * added up, and the options that make up the run. One safetensors file holds it; nothing random is
 * in it, because random numbers are a function of the step (keyed.h).
 *
 * Besides the model's tensors the file has the arrays
 *   "adam" float [2,P]   averages of the gradient and of its square
 *   "run"  double        version, step, sum and count of losses since the last line of the log,
 *                        then the options that are kept (options.h)
 */
#ifndef RUN_STATE_H
#define RUN_STATE_H

#include "network.h"

typedef struct {
    int64_t p, step;
    float *params, *adam; /* [P], [2,P] */
    double loss_sum, loss_count;
} run_state;

void state_create(int64_t p, run_state *out);
void state_destroy(run_state *state);

/* Writes path.new and renames that, so that a kill at any time leaves the old file or the new one.
 * Refuses parameters that are not finite. 0, or -1 after a complaint. */
int state_save(npagg_ctx *ctx, const network *net, const option_set *set, const run_state *state,
               const char *path);

/* Only the options, restored as options_restore does. -1 with set->error. */
int state_load_options(npagg_ctx *ctx, option_set *set, int strict, const char *path);

/* The rest. 0, or -1 after a complaint. */
int state_load(npagg_ctx *ctx, const network *net, const char *path, run_state *state);

#endif /* RUN_STATE_H */
