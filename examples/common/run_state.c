#include "run_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adam.h"
#include "complain.h"

enum { VERSION = 1, HEAD = 4, RUN = HEAD + OPTIONS_KEPT };

#define STEPS_MOST 1e12 /* of --steps */

void state_create(int64_t p, run_state *out)
{
    memset(out, 0, sizeof *out);
    out->p = p;
    out->params = take((size_t)p, sizeof *out->params);
    out->adam = take((size_t)(2 * p), sizeof *out->adam);
}

void state_destroy(run_state *state)
{
    free(state->params);
    free(state->adam);
    memset(state, 0, sizeof *state);
}

static void fill_run(const option_set *set, const run_state *state, double *run)
{
    run[0] = VERSION;
    run[1] = (double)state->step;
    run[2] = state->loss_sum;
    run[3] = state->loss_count;
    options_keep(set, run + HEAD);
}

int state_save(npagg_ctx *ctx, const network *net, const option_set *set, const run_state *state,
               const char *path)
{
    char side[4200];
    double run[RUN];
    if (!all_finite(state->p, state->params))
        return complain("step %lld: a parameter is not finite; %s keeps what it had",
                        (long long)state->step, path);
    fill_run(set, state, run);
    snprintf(side, sizeof side, "%s.new", path);
    if (npagg_model_save_f32(ctx, net->model, state->params, side) ||
        npagg_model_save_extra_f32(ctx, side, "adam", 2 * state->p, state->adam) ||
        npagg_model_save_extra_f64(ctx, side, "run", RUN, run))
        complain("%s could not be saved: %s", path, npagg_ctx_error(ctx));
    else if (rename(side, path))
        complain("%s could not be renamed to %s: %s", side, path, strerror(errno));
    else
        return 0;
    remove(side);
    return -1;
}

static int load_run(npagg_ctx *ctx, const char *path, double *run)
{
    return npagg_model_load_extra_f64(ctx, path, "run", RUN, run) || run[0] != VERSION ? -1 : 0;
}

int state_load_options(npagg_ctx *ctx, option_set *set, int strict, const char *path)
{
    double run[RUN] = {VERSION};
    if (!load_run(ctx, path, run))
        return options_restore(set, run + HEAD, strict, path);
    if (run[0] != VERSION)
        snprintf(set->error, sizeof set->error, "%s: version %g of a run, want %d", path, run[0],
                 VERSION);
    else
        snprintf(set->error, sizeof set->error, "%s: no checkpoint of this program: %s", path,
                 npagg_ctx_error(ctx));
    return -1;
}

/* A file says nothing of bits that have flipped, but some of them show. */
static int check_state(const char *path, const double *run, const run_state *state)
{
    if (!(run[1] >= 0 && run[1] <= STEPS_MOST && run[1] == floor(run[1])))
        return complain("%s is damaged: step %g", path, run[1]);
    if (!isfinite(run[2]) || !(run[3] >= 0 && run[3] <= run[1]))
        return complain("%s is damaged: losses %g of %g steps", path, run[2], run[3]);
    if (!all_finite(state->p, state->params) || !all_finite(2 * state->p, state->adam))
        return complain("%s is damaged: a parameter or average is not finite", path);
    return 0;
}

int state_load(npagg_ctx *ctx, const network *net, const char *path, run_state *state)
{
    double run[RUN];
    if (load_run(ctx, path, run) ||
        npagg_model_load_params_f32(ctx, net->model, path, state->params) ||
        npagg_model_load_extra_f32(ctx, path, "adam", 2 * state->p, state->adam))
        return complain("%s cannot be read: %s", path, npagg_ctx_error(ctx));
    if (check_state(path, run, state))
        return -1;
    state->step = (int64_t)run[1];
    state->loss_sum = run[2];
    state->loss_count = run[3];
    return 0;
}
