/*
 * npagg-regression: trains neural processes on functions and looks at what they learned.
 *
 * Exit status: 0 done, 1 failed, 2 asked for what makes no sense, 130 or 143 stopped by SIGINT or
 * SIGTERM after saving.
 */
#include <stdio.h>

#include "command.h"
#include "complain.h"
#include "own_tasks.h"
#include "picture.h"
#include "simulated.h"
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
    option_set *set;
    settings s;
    int64_t kernel, scale, max_points, checksum;
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
}

static int load_tasks(void *user)
{
    program *p = user;
    if (!p->csv)
        return 0;
    if (own_tasks_load(p->csv, (int)p->scale, p->max_points, &p->own))
        return -1;
    p->s.x_dim = p->own.file.x_dim;
    p->s.y_dim = p->own.file.y_dim;
    p->checksum = (int64_t)p->own.file.checksum;
    return 0;
}

static const char *describe_data(void *user)
{
    const program *p = user;
    return p->csv ? p->csv : "drawn functions: give its --csv";
}

static int finish_options(void *user)
{
    program *p = user;
    return settings_finish(p->set, &p->s, p->kernel == GP_MATERN ? 10 : 5);
}

/* The tasks that the options say, once they are known. */
static int make_source(program *p, task_source *out)
{
    p->functions.kind = (int)p->kernel;
    *out = p->csv ? own_tasks_source(&p->own) : simulated_source(&p->functions);
    if (out->x_dim == p->s.x_dim && out->y_dim == p->s.y_dim)
        return 0;
    return complain("the model takes x [%lld] and y [%lld], %s has x [%lld] and y [%lld]",
                    (long long)p->s.x_dim, (long long)p->s.y_dim,
                    p->csv ? p->csv : kernel_words[p->kernel], (long long)out->x_dim,
                    (long long)out->y_dim);
}

static int make_sources(void *user, task_source *train, task_source *watch)
{
    if (make_source(user, train))
        return -1;
    *watch = *train;
    return 0;
}

static int make_views(void *user, view_list *out)
{
    program *p = user;
    const real_list *levels = &p->s.levels;
    *out = (view_list){.quantity = "gamma", .count = levels->count};
    snprintf(out->data, sizeof out->data, "%s", p->csv ? p->csv : kernel_words[p->kernel]);
    if (make_source(p, &out->at[0].source))
        return -1;
    for (int i = 0; i < levels->count; i++) {
        out->at[i].source = out->at[0].source;
        out->at[i].level = out->at[i].shown = levels->at[i];
    }
    return 0;
}

static int predict_task(const examiner *e, void *user)
{
    program *p = user;
    if (!p->picture.prefix)
        return -1;
    if (e->set->n_files + (p->s.checkpoint != NULL) != 1) {
        complain("--predict wants one FILE");
        return EXIT_USAGE;
    }
    if (settings_check_folder(p->set, "predict", p->picture.prefix)) {
        complain("%s", p->set->error);
        return EXIT_USAGE;
    }
    return picture_write(e, &p->picture, p->csv ? &p->own : NULL, &p->kernel);
}

static void close_program(void *user)
{
    program *p = user;
    own_tasks_destroy(&p->own);
}

int main(int argc, char **argv)
{
    static option_set set;
    program p = {.set = &set,
                 .kernel = GP_RBF,
                 .max_points = SIMULATED_POINTS,
                 .picture = {.task = 1, .n_ctx = 20, .samples = 10}};
    command c = {.name = "npagg-regression",
                 .with_files = "--eval and --predict take files",
                 .set = &set,
                 .s = &p.s,
                 .checksum = &p.checksum,
                 .user = &p,
                 .load = load_tasks,
                 .data = describe_data,
                 .finish = finish_options,
                 .sources = make_sources,
                 .views = make_views,
                 .draw = predict_task,
                 .close = close_program};
    offer_options(&set, &p);
    command_offer(&c);
    return command_run(&c, argc, argv);
}
