/* What the trainers have in common: the model, the run, its evaluation, as options. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "options.h"

/* Indices of the words that --model, --grad and --objective take. */
enum { MODEL_BA, MODEL_MBA, MODEL_RBA, MODEL_RMBA, MODEL_NP, MODEL_NPSA };
enum { GRAD_UNROLL, GRAD_IMPLICIT, GRAD_LAST };
enum { OBJECTIVE_ELBO, OBJECTIVE_IWAE, OBJECTIVE_ML };

/* What the options are called and explained with; the levels' default is in settings. */
typedef struct {
    const char *vmp_steps, *level, *level_argument, *level_help, *tasks, *sweeps;
    double level_most;
} setting_words;

typedef struct {
    /* the model */
    int64_t model, components, vmp_steps, grad, learn_prior, samples, objective;
    int64_t latent, hidden, layers, pooled_layers, heads, decoder_hidden, decoder_layers, x_dim,
        y_dim;
    double sd_floor;
    /* the run */
    int64_t seed, steps, batch, stop_at;
    int64_t epochs;   /* 0: there is no such thing */
    int64_t schedule; /* 0: as steps */
    double rate;
    const char *checkpoint, *log;
    int64_t every, snapshots, log_every, watch_every, watch_tasks, resume, overwrite, threads,
        quiet;
    /* the evaluation */
    int64_t eval, tasks, eval_samples, eval_seed, sweeps;
    real_list levels;
    const char *table, *task_table;
    int64_t name_components; /* tables call mixtures "mba3" */
    setting_words words;
} settings;

extern const char *const model_words[];

/* What a model's z has, and its factors are; or it has neither prior nor factors, np and npsa. */
int model_is_mixture(int64_t model);
int model_is_robust(int64_t model);
int model_is_pooled(int64_t model);

/* What tables call it: its word, with the number of components if that is wanted. */
void settings_model_name(const settings *s, char *out, size_t size);

/* Offers the options under their headings; the caller has set the defaults that differ. */
void settings_offer_model(option_set *set, settings *s);
void settings_offer_run(option_set *set, settings *s);
void settings_offer_evaluation(option_set *set, settings *s);

/* Steps over which the rate goes to 0. */
int64_t settings_schedule(const settings *s);

/* The defaults of 1-D regression. */
void settings_begin(settings *s);

/* 0, or -1 with set->error if options do not go together; fills in defaults that depend on others. */
int settings_finish(option_set *set, settings *s, int64_t default_sweeps);

/* Nobody wants to hear after an hour that there is no such folder. -1 with set->error. */
int settings_check_folder(option_set *set, const char *name, const char *path);

#endif /* SETTINGS_H */
