/*
 * npagg-regression: trains neural processes on functions and looks at what they learned.
 *
 * Exit status: 0 done, 1 failed, 2 asked for what makes no sense, 130 or 143 stopped by SIGINT or
 * SIGTERM after saving.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "complain.h"
#include "examine.h"
#include "own_tasks.h"
#include "picture.h"
#include "simulated.h"
#include "stopping.h"
#include "trainer.h"

static const char usage[] =
    "usage: npagg-regression [--checkpoint FILE] [options]        train\n"
    "       npagg-regression --eval FILE... [options]             evaluate, a table of all FILEs\n"
    "       npagg-regression --predict PREFIX FILE [options]      one task, for a picture\n"
    "\n"
    "Neural processes with Bayesian, mixture and robust aggregation on 1-D functions: draws\n"
    "functions from a Gaussian process, or takes yours from a CSV file. FILE is a checkpoint that\n"
    "training has left, in the format safetensors.\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 asked for what makes no sense, 130 stopped by SIGINT and "
    "143\n"
    "by SIGTERM, after saving.\n";

static const char *const kernel_words[] = {"rbf", "matern", NULL};
static const char *const scale_words[] = {"none", "moments", "robust", NULL};

typedef struct {
    settings s;
    int64_t kernel, scale, max_points, checksum, version;
    const char *csv;
    picture picture;
    simulated functions;
    own_tasks own;
} program;

static void offer_data(option_set *set, program *p)
{
    options_heading(set, "Data:");
    options_choice(set, "kernel", &p->kernel, kernel_words, KEEP_RUN,
                   "RBF with random scale and length, or Matern-5/2");
    options_text(set, "csv", &p->csv, "FILE.csv",
                 "your tasks instead: columns task,x...,y..., a line per point");
    options_choice(set, "standardise", &p->scale, scale_words, KEEP_RUN,
                   "of each task in --csv, x to [-2, 2] and y by mean and sd, or by medians");
    options_integer(set, "max-points", &p->max_points, CSV_LEAST, 1e6, KEEP_RUN, "N",
                    "most points of a task in --csv that a batch takes");
    options_hidden(set, "csv-checksum", &p->checksum, KEEP_RUN);
}

static void offer_picture(option_set *set, program *p)
{
    options_heading(set, "Picture of one task:");
    options_text(set, "predict", &p->picture.prefix, "PREFIX",
                 "write PREFIX-context.csv and PREFIX-curve.csv for FILE");
    options_integer(set, "task", &p->picture.task, 1, 1e12, KEEP_NOT, "N",
                    "which function, or which task of --csv");
    options_integer(set, "context", &p->picture.n_ctx, 1, 1000, KEEP_NOT, "N",
                    "context points of the function, corrupted by the last --gamma");
    options_integer(set, "curves", &p->picture.samples, 0, 1000, KEEP_NOT, "N", "samples to write");
}

static void offer_options(option_set *set, program *p)
{
    settings_begin(&p->s);
    options_begin(set, "npagg-regression", usage);
    offer_data(set, p);
    settings_offer_model(set, &p->s);
    settings_offer_run(set, &p->s);
    settings_offer_evaluation(set, &p->s);
    offer_picture(set, p);
    options_flag(set, "version", &p->version, KEEP_NOT, "print the library's version");
    options_heading(set, "  --help                    this text");
}

/* The tasks that the options say, once they are known. */
static int make_source(void *user, task_source *out, const char **name)
{
    program *p = user;
    p->functions.kind = (int)p->kernel;
    *out = p->csv ? own_tasks_source(&p->own) : simulated_source(&p->functions);
    *name = p->csv ? p->csv : kernel_words[p->kernel];
    if (out->x_dim == p->s.x_dim && out->y_dim == p->s.y_dim)
        return 0;
    return complain("the model takes x [%lld] and y [%lld], %s has x [%lld] and y [%lld]",
                    (long long)p->s.x_dim, (long long)p->s.y_dim, *name, (long long)out->x_dim,
                    (long long)out->y_dim);
}

static int load_tasks(program *p)
{
    if (!p->csv)
        return 0;
    if (own_tasks_load(p->csv, (int)p->scale, p->max_points, &p->own))
        return -1;
    p->s.x_dim = p->own.file.x_dim;
    p->s.y_dim = p->own.file.y_dim;
    p->checksum = (int64_t)p->own.file.checksum;
    return 0;
}

/* A run that goes on needs the data it began with. */
static int restore_run(npagg_ctx *ctx, option_set *set, program *p)
{
    const int64_t checksum = p->checksum;
    if (state_load_options(ctx, set, KEEP_RUN, p->s.checkpoint))
        return complain("%s", set->error);
    if (p->checksum != checksum)
        return complain("%s was trained on other data than %s", p->s.checkpoint,
                        p->csv ? p->csv : "drawn functions: give its --csv");
    return 0;
}

/* Options against the checkpoint that is there. */
static int check_run(npagg_ctx *ctx, option_set *set, program *p)
{
    const settings *s = &p->s;
    const int exists = s->checkpoint && access(s->checkpoint, F_OK) == 0;
    if (set->n_files)
        return complain("%s: want options only; --eval and --predict take files", set->files[0]);
    if (exists && !s->resume && !s->overwrite)
        return complain("--checkpoint %s exists: --resume continues it, --overwrite begins anew",
                        s->checkpoint);
    if (exists && s->resume && restore_run(ctx, set, p))
        return -1;
    if (settings_finish(set, &p->s, p->kernel == GP_MATERN ? 10 : 5))
        return complain("%s", set->error);
    return 0;
}

static int predict_task(const examiner *e, program *p)
{
    if (e->set->n_files + (p->s.checkpoint != NULL) != 1) {
        complain("--predict wants one FILE");
        return EXIT_USAGE;
    }
    return picture_write(e, &p->picture, p->csv ? &p->own : NULL, &p->kernel);
}

static int run(npagg_ctx *ctx, option_set *set, program *p)
{
    const examiner e = {ctx, set, &p->s, make_source, p};
    task_source source;
    const char *name;
    if (p->version)
        return printf("npagg-regression %s\n", npagg_version()) < 0;
    if (load_tasks(p))
        return EXIT_USAGE;
    if (p->picture.prefix)
        return predict_task(&e, p);
    if (p->s.eval)
        return examine_models(&e);
    if (check_run(ctx, set, p) || make_source(p, &source, &name))
        return EXIT_USAGE;
    return trainer_run(ctx, set, &p->s, &source);
}

static int run_with_context(option_set *set, program *p)
{
    npagg_ctx *ctx = NULL;
    int status = EXIT_FAILED;
    stopping_install();
    if (npagg_ctx_create(&ctx) || npagg_ctx_set_threads(ctx, (int32_t)p->s.threads))
        complain("no context: %s", ctx ? npagg_ctx_error(ctx) : "out of memory");
    else
        status = run(ctx, set, p);
    npagg_ctx_destroy(ctx);
    own_tasks_destroy(&p->own);
    return status;
}

int main(int argc, char **argv)
{
    static option_set set;
    program p = {.kernel = GP_RBF,
                 .max_points = SIMULATED_POINTS,
                 .picture = {.task = 1, .n_ctx = 20, .samples = 10}};
    complain_as("npagg-regression");
    offer_options(&set, &p);
    const int asked = options_parse(&set, argc, argv);
    if (asked < 0)
        complain("%s", set.error);
    if (asked > 0)
        options_help(&set);
    const int status = asked < 0 ? EXIT_USAGE : asked ? EXIT_DONE : run_with_context(&set, &p);
    free(set.files);
    return status;
}
