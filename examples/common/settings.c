#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const model_words[] = {"ba", "mba", "rba", "rmba", "np", "npsa", NULL};
static const char *const grad_words[] = {"unroll", "implicit", "last", NULL};
static const char *const objective_words[] = {"elbo", "iwae", "ml", NULL};

int model_is_mixture(int64_t model)
{
    return model == MODEL_MBA || model == MODEL_RMBA;
}

int model_is_robust(int64_t model)
{
    return model == MODEL_RBA || model == MODEL_RMBA;
}

int model_is_pooled(int64_t model)
{
    return model == MODEL_NP || model == MODEL_NPSA;
}

void settings_model_name(const settings *s, char *out, size_t size)
{
    if (s->name_components && model_is_mixture(s->model))
        snprintf(out, size, "%s%lld", model_words[s->model], (long long)s->components);
    else
        snprintf(out, size, "%s", model_words[s->model]);
}

int64_t settings_schedule(const settings *s)
{
    return s->schedule ? s->schedule : s->steps;
}

void settings_begin(settings *s)
{
    *s = (settings){
        .model = MODEL_BA,
        .components = 3,
        .objective = OBJECTIVE_IWAE,
        .latent = 128,
        .layers = 4,
        .pooled_layers = 2,
        .heads = 8,
        .decoder_hidden = 128,
        .decoder_layers = 3,
        .sd_floor = 0.1,
        .x_dim = 1,
        .y_dim = 1,
        .seed = 1,
        .steps = 100000,
        .batch = 16,
        .rate = 5e-4,
        .every = 1000,
        .log_every = 100,
        .watch_every = 1000,
        .watch_tasks = 128,
        .threads = 1,
        .tasks = 5000,
        .eval_samples = 50,
        .eval_seed = 1,
        .levels = {6, {0, 0.05, 0.08, 0.11, 0.13, 0.15}},
        .words = {.vmp_steps = "sweeps of rba and rmba [5, for the Matern kernel 10]",
                  .level = "gamma",
                  .level_argument = "G,...",
                  .level_help = "context values += gamma Student-t(2.1)",
                  .level_most = 1e6,
                  .tasks = "tasks, rounded up to whole batches",
                  .sweeps = "instead: figures after 1..N sweeps at the last gamma"},
    };
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    s->threads = cores < 1 ? 1 : cores > 8 ? 8 : cores;
}

void settings_offer_model(option_set *set, settings *s)
{
    options_heading(set, "Model (the defaults are the paper's):");
    options_choice(set, "model", &s->model, model_words, KEEP_SHAPE,
                   "Bayesian, mixture, robust, robust mixture; mean, mean after attention");
    options_integer(set, "components", &s->components, 1, 1000, KEEP_SHAPE, "K",
                    "components of mba and rmba");
    options_integer(set, "vmp-steps", &s->vmp_steps, 1, 100000, KEEP_RUN, "T", s->words.vmp_steps);
    options_choice(set, "grad", &s->grad, grad_words, KEEP_RUN, "gradient through the sweeps");
    options_flag(set, "learn-prior", &s->learn_prior, KEEP_RUN,
                 "train the prior's parameters too, which are else fixed");
    options_integer(set, "samples", &s->samples, 1, 100000, KEEP_RUN, "S",
                    "samples of z a task in training [5, for mixtures 10]");
    options_choice(set, "objective", &s->objective, objective_words, KEEP_RUN,
                   "iwae is over all points, elbo and ml over the targets");
    options_integer(set, "latent", &s->latent, 1, 65536, KEEP_SHAPE, "D", "dimensions of z");
    options_integer(set, "hidden", &s->hidden, 1, 65536, KEEP_SHAPE, "N",
                    "width of the encoder's hidden layers [64, of np and npsa 128]");
    options_integer(set, "layers", &s->layers, 1, 33, KEEP_SHAPE, "N",
                    "linear layers of the encoder; npsa has two fewer, and attention");
    options_integer(set, "pooled-layers", &s->pooled_layers, 2, 33, KEEP_SHAPE, "N",
                    "linear layers of np and npsa behind the mean");
    options_integer(set, "heads", &s->heads, 1, 1024, KEEP_SHAPE, "N", "of npsa's attention");
    options_integer(set, "decoder-hidden", &s->decoder_hidden, 1, 65536, KEEP_SHAPE, "N",
                    "width of the decoder's hidden layers");
    options_integer(set, "decoder-layers", &s->decoder_layers, 1, 33, KEEP_SHAPE, "N",
                    "linear layers of the decoder");
    options_real(set, "sd-floor", &s->sd_floor, 0, 0.999, KEEP_SHAPE, "SD",
                 "smallest sd of a predicted point");
    options_hidden(set, "x-dim", &s->x_dim, KEEP_SHAPE);
    options_hidden(set, "y-dim", &s->y_dim, KEEP_SHAPE);
}

static void offer_files(option_set *set, settings *s)
{
    options_text(set, "checkpoint", &s->checkpoint, "FILE",
                 "where the model and the state of the run are saved");
    options_integer(set, "every", &s->every, 1, 1e12, KEEP_NOT, "N", "save every N steps");
    options_integer(set, "snapshots", &s->snapshots, 1, 1e12, KEEP_NOT, "N",
                    "also keep FILE.STEP every N steps");
    options_flag(set, "resume", &s->resume, KEEP_NOT,
                 "continue the run in FILE to the same bits, or to more --steps, or begin it");
    options_flag(set, "overwrite", &s->overwrite, KEEP_NOT, "begin anew over an existing FILE");
    options_text(set, "log", &s->log, "FILE.csv", "loss, rate, held-out figures, time");
    options_integer(set, "log-every", &s->log_every, 1, 1e12, KEEP_RUN, "N",
                    "a line of the log every N steps");
    options_integer(set, "watch-every", &s->watch_every, 0, 1e12, KEEP_NOT, "N",
                    "held-out figures every N steps; 0: never");
    options_integer(set, "watch-tasks", &s->watch_tasks, 1, 1e9, KEEP_NOT, "N",
                    "from that many tasks");
}

void settings_offer_run(option_set *set, settings *s)
{
    options_heading(set, "Training (Adam, cosine annealing to 0):");
    options_integer(set, "seed", &s->seed, 0, 9007199254740992.0, KEEP_RUN, "N",
                    "of all that is random");
    options_integer(set, "steps", &s->steps, 0, 1e12, KEEP_LENGTH, "N", "batches to train on");
    if (s->epochs)
        options_integer(set, "epochs", &s->epochs, 1, 1e9, KEEP_LENGTH, "N",
                        "or how often every task is to be seen");
    options_integer(set, "schedule", &s->schedule, 1, 1e12, KEEP_LENGTH, "N",
                    "steps after which the rate is 0 [as --steps]");
    options_integer(set, "stop-at", &s->stop_at, 1, 1e12, KEEP_NOT, "N",
                    "save and stop after step N, to be resumed");
    options_integer(set, "batch", &s->batch, 1, 1e6, KEEP_RUN, "N", "tasks a step");
    options_real(set, "lr", &s->rate, 1e-30, 1e30, KEEP_RUN, "RATE", "learning rate at first");
    offer_files(set, s);
    options_integer(set, "threads", &s->threads, 1, 256, KEEP_NOT, "N",
                    "the results do not depend on it");
    options_flag(set, "quiet", &s->quiet, KEEP_NOT, "no progress on stderr");
}

void settings_offer_evaluation(option_set *set, settings *s)
{
    options_heading(set, "Evaluation:");
    options_flag(set, "eval", &s->eval, KEEP_NOT,
                 "evaluate the FILEs (or --checkpoint) instead of training");
    options_integer(set, "tasks", &s->tasks, 1, 1e9, KEEP_NOT, "N", s->words.tasks);
    options_integer(set, "eval-samples", &s->eval_samples, 1, 1e6, KEEP_NOT, "S",
                    "samples of z a task");
    options_integer(set, "eval-seed", &s->eval_seed, 0, 9007199254740992.0, KEEP_NOT, "N",
                    "the tasks; the same for all models");
    options_reals(set, s->words.level, &s->levels, 0, s->words.level_most, s->words.level_argument,
                  s->words.level_help);
    options_integer(set, "sweeps", &s->sweeps, 1, 1000, KEEP_NOT, "N", s->words.sweeps);
    options_text(set, "csv-out", &s->table, "FILE.csv", "write the table there too");
    options_text(set, "task-csv", &s->task_table, "FILE.csv", "the figures of every task");
}

static int refuse(option_set *set, const char *text)
{
    snprintf(set->error, sizeof set->error, "%s", text);
    return -1;
}

int settings_check_folder(option_set *set, const char *name, const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1,
             slash ? path : ".");
    if (access(folder, W_OK) == 0)
        return 0;
    snprintf(set->error, sizeof set->error, "--%s %s: cannot write there: %s", name, path,
             strerror(errno));
    return -1;
}

/* A checkpoint and a log are replaced as a whole, so what is there must be a file; a table may go to
 * a device. */
static int check_kind(option_set *set, const char *name, const char *path)
{
    struct stat there;
    const int replaced = !strcmp(name, "checkpoint") || !strcmp(name, "log");
    if (stat(path, &there) || S_ISREG(there.st_mode) || (!replaced && !S_ISDIR(there.st_mode)))
        return 0;
    snprintf(set->error, sizeof set->error, "--%s %s: cannot write there: it is no file", name,
             path);
    return -1;
}

static int check_writable(option_set *set, const char *name, const char *path)
{
    if (!path)
        return 0;
    return settings_check_folder(set, name, path) ? -1 : check_kind(set, name, path);
}

static int check_files(option_set *set, const settings *s)
{
    if (s->resume && !s->checkpoint)
        return refuse(set, "--resume wants --checkpoint FILE");
    if (s->resume && s->overwrite)
        return refuse(set, "--resume and --overwrite exclude each other");
    if (s->stop_at && !s->checkpoint)
        return refuse(set, "--stop-at wants --checkpoint FILE");
    if (s->snapshots && !s->checkpoint)
        return refuse(set, "--snapshots wants --checkpoint FILE");
    if (check_writable(set, "checkpoint", s->checkpoint) || check_writable(set, "log", s->log) ||
        check_writable(set, "csv-out", s->table) || check_writable(set, "task-csv", s->task_table))
        return -1;
    return options_distinct(set);
}

int settings_finish(option_set *set, settings *s, int64_t default_sweeps)
{
    const int mixture = model_is_mixture(s->model);
    if (s->vmp_steps == 0)
        s->vmp_steps = default_sweeps;
    if (s->samples == 0)
        s->samples = mixture ? 10 : 5;
    if (s->hidden == 0)
        s->hidden = model_is_pooled(s->model) ? 128 : 64;
    if (mixture && s->samples < s->components)
        return refuse(set, "--samples: want at least as many as --components");
    if (s->schedule && s->schedule < s->steps)
        return refuse(set, "--schedule: want at least as many as --steps, else the rate is 0");
    if (s->model == MODEL_NPSA && s->layers < 3)
        return refuse(set, "--layers: npsa wants 3 or more");
    if (s->model == MODEL_NPSA && s->hidden % s->heads != 0)
        return refuse(set, "--hidden: npsa wants a multiple of --heads");
    return check_files(set, s);
}
