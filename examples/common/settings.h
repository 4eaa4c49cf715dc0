/* What the trainers have in common: the model, the run, its evaluation, as options. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "options.h"

/* Indices of the words that --model, --grad and --objective take. */
enum { MODEL_BA, MODEL_MBA, MODEL_RBA, MODEL_RMBA };
enum { GRAD_UNROLL, GRAD_IMPLICIT, GRAD_LAST };
enum { OBJECTIVE_ELBO, OBJECTIVE_IWAE, OBJECTIVE_ML };

typedef struct {
    /* the model */
    int64_t model, components, vmp_steps, grad, learn_prior, samples, objective;
    int64_t latent, hidden, layers, decoder_hidden, decoder_layers, x_dim, y_dim;
    /* the run */
    int64_t seed, steps, schedule, batch, stop_at;
    double rate;
    const char *checkpoint, *log;
    int64_t every, snapshots, log_every, watch_every, watch_tasks, resume, overwrite, threads,
        quiet;
    /* the evaluation */
    int64_t eval, tasks, eval_samples, eval_seed, sweeps;
    real_list levels;
    const char *table, *task_table;
} settings;

extern const char *const model_words[];

/* Offers the options under their headings; the caller has set the defaults that differ. */
void settings_offer_model(option_set *set, settings *s);
void settings_offer_run(option_set *set, settings *s);
void settings_offer_evaluation(option_set *set, settings *s);

/* The defaults of 1-D regression. */
void settings_begin(settings *s);

/* 0, or -1 with set->error if options do not go together; fills in defaults that depend on others. */
int settings_finish(option_set *set, settings *s, int64_t default_sweeps);

#endif /* SETTINGS_H */
