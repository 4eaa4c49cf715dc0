#include "trainer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adam.h"
#include "complain.h"
#include "csv_log.h"
#include "evaluate.h"
#include "prefetch.h"
#include "progress.h"
#include "run_state.h"
#include "stopping.h"

#define LOG_HEADER "step,seconds,steps_per_s,rate,loss,ctx_ll,tgt_ll,ctx_rmse,tgt_rmse"

typedef struct {
    npagg_ctx *ctx;
    const option_set *set;
    const settings *s;
    const task_source *source, *held_out;
    network net;
    run_state state;
    int64_t saved; /* step of the last checkpoint, -1 if there is none */
    prefetch *inputs;
    const step_input *in; /* of the last step */
    float *grad, *loss, *dloss;
    FILE *log;
    scores watch; /* figures of held-out tasks, and their averages */
    average ctx_ll, tgt_ll, ctx_rmse, tgt_rmse;
    double shown_loss, began;
    progress bar;
} trainer;

static void create_arrays(trainer *t)
{
    const settings *s = t->s;
    const size_t b = (size_t)s->batch;
    t->inputs = prefetch_create(t->source, (uint64_t)s->seed, s->batch,
                                s->batch * s->samples * s->latent, t->state.step, s->threads > 1);
    t->grad = take((size_t)t->net.p, sizeof(float));
    t->loss = take(b, sizeof(float));
    t->dloss = take(b, sizeof(float));
    for (size_t i = 0; i < b; i++)
        t->dloss[i] = 1.0f / (float)b;
    scores_create(t->held_out, s->watch_tasks, s->batch, &t->watch);
    t->watch.whole = 1; /* they go to the log */
    t->tgt_ll.mean = t->shown_loss = NAN;
}

static void destroy_trainer(trainer *t)
{
    network_destroy(&t->net);
    state_destroy(&t->state);
    prefetch_destroy(t->inputs);
    scores_destroy(&t->watch);
    free(t->grad);
    free(t->loss);
    free(t->dloss);
    if (t->log)
        fclose(t->log);
}

/* Of the next step. */
static double rate_of(const trainer *t)
{
    return cosine_rate(t->s->rate, t->state.step, settings_schedule(t->s));
}

static void say_where(const trainer *t)
{
    const long long step = (long long)t->state.step, steps = (long long)t->s->steps;
    if (step < steps)
        fprintf(stderr, "%s goes on after step %lld of %lld, the rate is %.3g\n", t->s->checkpoint,
                step, steps, rate_of(t));
    else
        fprintf(stderr, "%s is finished, with step %lld of %lld\n", t->s->checkpoint, step, steps);
}

/* Parameters from the seed, or all of it from the checkpoint. */
static int begin_state(trainer *t)
{
    const settings *s = t->s;
    t->saved = -1;
    state_create(t->net.p, &t->state);
    if (s->resume && access(s->checkpoint, F_OK) == 0) {
        if (state_load(t->ctx, &t->net, s->checkpoint, &t->state))
            return -1;
        t->saved = t->state.step;
        if (!s->quiet)
            say_where(t);
        return 0;
    }
    if (npagg_model_init_params_f32(t->ctx, t->net.model, (uint64_t)s->seed, t->state.params))
        return complain("%s", npagg_ctx_error(t->ctx));
    return 0;
}

static int begin_training(trainer *t)
{
    if (network_create(t->ctx, t->s, &t->net) || begin_state(t))
        return -1;
    double seconds = 0;
    create_arrays(t);
    if (t->s->log)
        t->log = csv_log_open(t->s->log, LOG_HEADER, t->saved, &seconds);
    t->began = progress_clock() - seconds;
    return t->s->log && !t->log ? -1 : 0;
}

/* The loop stops at a step that is not good, and says what is left of the run. */
static int complain_of_step(const trainer *t, const char *what, const char *why)
{
    char kept[4300] = "there is no checkpoint";
    if (t->saved >= 0)
        snprintf(kept, sizeof kept, "%s has step %lld", t->s->checkpoint, (long long)t->saved);
    return complain("step %lld: %s%s; stopped, %s", (long long)t->state.step + 1, what, why, kept);
}

static double mean_loss(const trainer *t)
{
    double sum = 0;
    for (int64_t i = 0; i < t->s->batch; i++)
        sum += (double)t->loss[i];
    return sum / (double)t->s->batch;
}

/* Only parameters that have a loss are worth keeping: those of the last move are tried on the
 * batch that moved them. */
static int prove_state(trainer *t)
{
    if (!t->in)
        return 0;
    const batch *b = t->in->tasks;
    if (npagg_model_forward_f32(t->ctx, t->net.model, t->state.params, b->tasks, b->offsets,
                                b->n_ctx, b->x, b->y, t->in->noise, NULL, t->loss, NULL))
        return complain_of_step(t, "the loss cannot be computed: ", npagg_ctx_error(t->ctx));
    return isfinite(mean_loss(t)) ? 0 : complain_of_step(t, "the loss is not finite", "");
}

static int save_state(trainer *t)
{
    if (!t->s->checkpoint || t->saved == t->state.step)
        return 0;
    if (prove_state(t) || state_save(t->ctx, &t->net, t->set, &t->state, t->s->checkpoint))
        return -1;
    t->saved = t->state.step;
    return 0;
}

static int save_snapshot(trainer *t)
{
    char path[4200];
    const int64_t n = t->s->snapshots;
    if (!n || t->state.step % n)
        return 0;
    snprintf(path, sizeof path, "%s.%lld", t->s->checkpoint, (long long)t->state.step);
    if (prove_state(t) || state_save(t->ctx, &t->net, t->set, &t->state, path))
        return -1;
    return 0;
}

/* Adam on everything, or on all but the prior. */
static void move_parameters(trainer *t)
{
    const network *net = &t->net;
    const int64_t p = net->p, step = t->state.step;
    const int64_t from = t->s->learn_prior ? p : net->prior_from;
    const int64_t to = t->s->learn_prior ? p : net->prior_to;
    const double rate = rate_of(t);
    float *x = t->state.params, *m = t->state.adam, *v = m + p;
    adam_step(from, step, rate, t->grad, m, v, x);
    adam_step(p - to, step, rate, t->grad + to, m + to, v + to, x + to);
}

static int train_step(trainer *t)
{
    const step_input *in = t->in = prefetch_next(t->inputs);
    const batch *b = in->tasks;
    memset(t->grad, 0, (size_t)t->net.p * sizeof *t->grad);
    if (npagg_model_step_f32(t->ctx, t->net.model, t->state.params, b->tasks, b->offsets, b->n_ctx,
                             b->x, b->y, in->noise, NULL, t->dloss, t->loss, t->grad))
        return complain_of_step(t, "the loss cannot be computed: ", npagg_ctx_error(t->ctx));
    const double mean = mean_loss(t);
    if (!isfinite(mean))
        return complain_of_step(t, "the loss is not finite", "");
    if (!all_finite(t->net.p, t->grad))
        return complain_of_step(t, "the gradient is not finite", "");
    move_parameters(t);
    t->state.step++;
    t->state.loss_sum += mean;
    t->state.loss_count++;
    return 0;
}

/* Figures of held-out tasks; 1 if they are new. */
static int watch_tasks(trainer *t)
{
    const settings *s = t->s;
    const int64_t step = t->state.step;
    scores *w = &t->watch;
    if (!s->watch_every || (step % s->watch_every && step != s->steps))
        return 0;
    if (evaluate(t->ctx, &t->net, t->state.params, t->held_out, (uint64_t)s->eval_seed, 0,
                 s->eval_samples, NULL, w))
        return -1;
    t->ctx_ll = average_of(w->tasks, w->ctx_ll, NULL);
    t->tgt_ll = average_of(w->tasks, w->tgt_ll, NULL);
    t->ctx_rmse = average_of(w->batches, w->ctx_rmse, NULL);
    t->tgt_rmse = average_of(w->batches, w->tgt_rmse, NULL);
    return 1;
}

static int write_log(trainer *t, int watched)
{
    run_state *state = &t->state;
    t->shown_loss = state->loss_sum / state->loss_count;
    state->loss_sum = state->loss_count = 0;
    if (!t->log)
        return 0;
    fprintf(t->log, "%lld,%.2f,%.2f,%.9g,%.9g,", (long long)state->step,
            progress_clock() - t->began, progress_speed(&t->bar, state->step), rate_of(t),
            t->shown_loss);
    if (watched)
        fprintf(t->log, "%.9g,%.9g,%.9g,%.9g\n", t->ctx_ll.mean, t->tgt_ll.mean, t->ctx_rmse.mean,
                t->tgt_rmse.mean);
    else
        fputs(",,,\n", t->log);
    if (fflush(t->log) || ferror(t->log))
        return complain_of_step(t, "the log cannot be written: ", strerror(errno));
    return 0;
}

static void show_progress(trainer *t, int last)
{
    char figures[128] = "";
    int n = 0;
    if (!isnan(t->shown_loss))
        n = snprintf(figures, sizeof figures, "loss %.3f", t->shown_loss);
    if (n > 0 && !isnan(t->tgt_ll.mean))
        snprintf(figures + n, sizeof figures - (size_t)n, ", target LL %.3f", t->tgt_ll.mean);
    if (last)
        progress_end(&t->bar, t->state.step, figures);
    else
        progress_show(&t->bar, t->state.step, figures);
}

/* What belongs to a step besides the step: figures, log, files, progress. */
static int finish_step(trainer *t)
{
    const settings *s = t->s;
    const int64_t step = t->state.step;
    const int watched = watch_tasks(t);
    if (watched < 0)
        return -1;
    if ((step % s->log_every == 0 || step == s->steps || watched) && write_log(t, watched))
        return -1;
    if (step % s->every == 0 && save_state(t))
        return -1;
    if (save_snapshot(t))
        return -1;
    if (isnan(t->shown_loss) && t->state.loss_count > 0)
        t->shown_loss = t->state.loss_sum / t->state.loss_count;
    if (progress_due(&t->bar, step))
        show_progress(t, 0);
    return 0;
}

static int stop_early(const trainer *t)
{
    return stopping_signal() || (t->s->stop_at && t->state.step >= t->s->stop_at);
}

static int run_steps(trainer *t)
{
    const settings *s = t->s;
    if (t->set->longer) /* the file is to know */
        t->saved = -1;
    if (save_state(t))
        return EXIT_FAILED;
    progress_begin(&t->bar, model_words[s->model], "steps", t->state.step, s->steps, s->quiet);
    while (t->state.step < s->steps && !stop_early(t))
        if (train_step(t) || finish_step(t))
            return EXIT_FAILED;
    show_progress(t, 1);
    if (save_state(t))
        return EXIT_FAILED;
    if (!stopping_signal() || t->state.step == s->steps)
        return EXIT_DONE;
    complain("%s after step %lld; %s%s", stopping_name(stopping_signal()), (long long)t->state.step,
             s->checkpoint ? "--resume continues " : "nothing was saved",
             s->checkpoint ? s->checkpoint : "");
    return stopping_status(stopping_signal());
}

int trainer_run(npagg_ctx *ctx, const option_set *set, const settings *s, const task_source *source,
                const task_source *watch)
{
    trainer t = {.ctx = ctx, .set = set, .s = s, .source = source, .held_out = watch};
    const int status = begin_training(&t) ? EXIT_FAILED : run_steps(&t);
    destroy_trainer(&t);
    return status;
}
