/*
 * npagg-image: trains neural processes to complete images and looks at what they learned.
 *
 * Exit status: 0 done, 1 failed, 2 asked for what makes no sense, 130 or 143 stopped by SIGINT or
 * SIGTERM after saving.
 */
#include <stdio.h>

#include "command.h"
#include "complain.h"
#include "image_data.h"
#include "sheet.h"
#include "trainer.h"

static const char usage[] =
    "usage: npagg-image --data DIR [--checkpoint FILE] [options]        train\n"
    "       npagg-image --data DIR --eval FILE... [options]             evaluate, a table\n"
    "       npagg-image --data DIR --sheet PREFIX FILE... [options]     one image, for a picture\n"
    "\n"
    "Neural processes with Bayesian, mixture and robust aggregation on images: given some pixels,\n"
    "what are the others? Takes MNIST, Fashion-MNIST, EMNIST or any images in the format IDX. "
    "FILE\n"
    "is a checkpoint that training has left, in the format safetensors.\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 asked for what makes no sense, 130 stopped by SIGINT and "
    "143\n"
    "by SIGTERM, after saving.\n";

static const char *const corrupt_words[] = {"noise",   "gaussian", "shot", "impulse",
                                            "speckle", "pixelate", NULL};
static const int corrupt_kinds[] = {CORRUPT_ALL,     CORRUPT_GAUSSIAN, CORRUPT_SHOT,
                                    CORRUPT_IMPULSE, CORRUPT_SPECKLE,  CORRUPT_PIXELATE};

typedef struct {
    option_set *set;
    settings s;
    image_data data;
    int64_t corrupt;
    real_list sizes;
    sheet sheet;
    image_tasks training, watched, shown[VIEWS_MOST];
} program;

/* The paper's settings of image completion, where they are not those of 1-D regression. */
static void begin_settings(settings *s)
{
    settings_begin(s);
    s->layers = 5;
    s->pooled_layers = 3;
    s->decoder_layers = 4;
    s->x_dim = 2;
    s->batch = 100;
    s->steps = 0;
    s->epochs = 200;
    s->every = 100;
    s->log_every = 20;
    s->watch_every = 200;
    s->watch_tasks = 100;
    s->tasks = 0;
    s->levels = (real_list){1, {0}};
    s->name_components = 1;
    s->words = (setting_words){
        .vmp_steps = "sweeps of rba and rmba [5]",
        .level = "severity",
        .level_argument = "N,...",
        .level_help = "how much, 0..5; with --corrupt",
        .level_most = SEVERITY_MOST,
        .tasks = "images of each group, rounded up to whole batches [all]",
        .sweeps = "instead: figures after 1..N sweeps at the last severity",
    };
}

static void offer_options(option_set *set, program *p)
{
    settings *s = &p->s;
    begin_settings(s);
    options_begin(set, "npagg-image", usage);
    image_data_offer(set, &p->data);
    settings_offer_model(set, s);
    settings_offer_run(set, s);
    settings_offer_evaluation(set, s);
    options_choice(set, "corrupt", &p->corrupt, corrupt_words, KEEP_NOT,
                   "of context pixels; noise: a quarter of the images each of the four");
    options_reals(set, "context-sizes", &p->sizes, 1, TASK_POINTS_AT, "N,...",
                  "figures against the number of context pixels, or rows of the sheet");
    options_heading(set, "Sheet of one image:");
    options_text(set, "sheet", &p->sheet.prefix, "PREFIX",
                 "write PREFIX.csv and PREFIX-labels.csv of the FILEs");
    options_integer(set, "image", &p->sheet.image, 1, 1e9, KEEP_NOT, "N", "which of the test set");
}

static int check_whole(const char *name, const real_list *list)
{
    for (int i = 0; i < list->count; i++)
        if (list->at[i] != (double)(int64_t)list->at[i])
            return complain("--%s %g: want a whole number", name, list->at[i]);
    return 0;
}

/* Context sizes must leave room for targets. */
static int check_sizes(const program *p)
{
    const int64_t pixels = p->data.test.height * p->data.test.width;
    const int64_t points = p->sheet.prefix || pixels < TASK_POINTS_AT ? pixels : TASK_POINTS_AT;
    const int64_t most = p->sheet.prefix ? points : points - TASK_LEAST;
    for (int i = 0; i < p->sizes.count; i++)
        if (p->sizes.at[i] > (double)most)
            return complain("--context-sizes %g: want at most %lld", p->sizes.at[i],
                            (long long)most);
    return 0;
}

/* A table has one row of numbers: severities, context sizes or sweeps. */
static int check_single(const program *p)
{
    const int severities = p->s.levels.count, sizes = p->sizes.count;
    if (p->sheet.prefix && options_given(p->set, "severity") && severities > 1)
        return complain("--sheet wants one --severity, got %d", severities);
    if (!p->sheet.prefix && sizes && severities > 1)
        return complain("--context-sizes wants one --severity, got %d", severities);
    if (p->s.sweeps && sizes > 1)
        return complain("--sweeps wants one of --context-sizes, got %d", sizes);
    return 0;
}

static int load_images(void *user)
{
    program *p = user;
    settings *s = &p->s;
    const int test_only = s->eval || p->sheet.prefix != NULL;
    if (check_whole("severity", &s->levels) || check_whole("context-sizes", &p->sizes))
        return -1;
    if (options_given(p->set, "corrupt") && !options_given(p->set, "severity"))
        s->levels = (real_list){6, {0, 1, 2, 3, 4, 5}};
    if (check_single(p))
        return -1;
    if (image_data_load(&p->data, options_given(p->set, "classes"), test_only))
        return -1;
    return check_sizes(p);
}

static const char *describe_data(void *user)
{
    const program *p = user;
    return p->data.where;
}

/* --epochs in steps; whoever gives --steps has them. */
static int finish_steps(program *p)
{
    settings *s = &p->s;
    const int64_t n = image_data_count(&p->data),
                  wanted = (s->epochs * n + s->batch - 1) / s->batch;
    if (options_given(p->set, "steps") && options_given(p->set, "epochs")) {
        snprintf(p->set->error, sizeof p->set->error, "--steps and --epochs exclude each other");
        return -1;
    }
    const int by_epochs = !options_given(p->set, "steps") && s->epochs;
    if (by_epochs && wanted < s->steps) {
        snprintf(p->set->error, sizeof p->set->error,
                 "--epochs %lld are %lld steps, but --steps is %lld in the run to resume",
                 (long long)s->epochs, (long long)wanted, (long long)s->steps);
        return -1;
    }
    if (by_epochs)
        s->steps = wanted;
    if (s->steps != wanted)
        s->epochs = 0;
    return 0;
}

static int finish_options(void *user)
{
    program *p = user;
    if (image_data_finish(&p->data, p->set) || finish_steps(p))
        return -1;
    return settings_finish(p->set, &p->s, 5);
}

static int make_sources(void *user, task_source *train, task_source *watch)
{
    program *p = user;
    if (image_data_choose(&p->data))
        return -1;
    p->training = (image_tasks){.images = p->data.chosen, .kind = CORRUPT_ALL};
    p->watched = (image_tasks){.images = p->data.seen, .kind = CORRUPT_ALL};
    *train = image_tasks_training(&p->training);
    *watch = image_tasks_test(&p->watched);
    return 0;
}

/* The images of one group at every severity, or at every context size. */
static void add_views(program *p, const char *group, const image_choice *images, view_list *out)
{
    const real_list *levels = &p->s.levels, *by = p->sizes.count ? &p->sizes : levels;
    for (int i = 0; i < by->count; i++) {
        view *v = &out->at[out->count];
        image_tasks *tasks = &p->shown[out->count++];
        *tasks = (image_tasks){.images = *images, .kind = corrupt_kinds[p->corrupt]};
        tasks->n_ctx = p->sizes.count ? (int64_t)by->at[i] : 0;
        v->level = p->sizes.count ? levels->at[levels->count - 1] : by->at[i];
        v->shown = by->at[i];
        v->group = group;
        v->source = image_tasks_test(tasks);
    }
}

static int make_views(void *user, view_list *out)
{
    program *p = user;
    image_data *d = &p->data;
    char classes[512];
    image_data_restore(d);
    if (image_data_choose(d))
        return -1;
    classes_print(&d->classes, classes, sizeof classes);
    *out = (view_list){.quantity = p->sizes.count ? "context" : "severity",
                       .corruption = corrupt_words[p->corrupt]};
    snprintf(out->data, sizeof out->data, "%s classes %s", d->name, classes);
    add_views(p, "seen", &d->seen, out);
    if (d->unseen.n)
        add_views(p, "unseen", &d->unseen, out);
    return 0;
}

/* Noise of all kinds would not do for one image: it gets Gaussian. */
static int draw_sheet(const examiner *e, void *user)
{
    program *p = user;
    static const real_list sizes = {4, {10, 40, 150, 400}};
    const real_list *levels = &p->s.levels;
    const int kind = corrupt_kinds[p->corrupt];
    sheet s = p->sheet;
    if (!s.prefix)
        return -1;
    if (settings_check_folder(p->set, "sheet", s.prefix)) {
        complain("%s", p->set->error);
        return EXIT_USAGE;
    }
    s.set = &p->data.test;
    if (s.image > s.set->n) {
        complain("--image %lld: there are %lld", (long long)s.image, (long long)s.set->n);
        return EXIT_USAGE;
    }
    s.sizes = p->sizes.count ? &p->sizes : &sizes;
    s.kind = kind == CORRUPT_ALL ? CORRUPT_GAUSSIAN : kind;
    s.severity = (int)levels->at[levels->count - 1];
    return sheet_write(e, &s);
}

static void announce_run(npagg_ctx *ctx, void *user)
{
    const program *p = user;
    char name[24];
    network net;
    if (p->s.quiet || network_create(ctx, &p->s, &net))
        return;
    settings_model_name(&p->s, name, sizeof name);
    fprintf(stderr, "%s: %lld parameters in encoder and decoder; %lld images of %s, %lld x %lld\n",
            name, (long long)network_parameters(&net), (long long)p->data.chosen.n, p->data.where,
            (long long)p->data.train.height, (long long)p->data.train.width);
    network_destroy(&net);
}

static void close_program(void *user)
{
    program *p = user;
    image_data_destroy(&p->data);
}

int main(int argc, char **argv)
{
    static option_set set;
    static program p = {.set = &set, .sheet = {.image = 1}};
    command c = {.name = "npagg-image",
                 .with_files = "--eval and --sheet take files",
                 .set = &set,
                 .s = &p.s,
                 .checksum = &p.data.checksum,
                 .user = &p,
                 .load = load_images,
                 .data = describe_data,
                 .finish = finish_options,
                 .sources = make_sources,
                 .views = make_views,
                 .draw = draw_sheet,
                 .announce = announce_run,
                 .close = close_program};
    offer_options(&set, &p);
    command_offer(&c);
    return command_run(&c, argc, argv);
}
