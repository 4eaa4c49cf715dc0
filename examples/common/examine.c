#include "examine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "report.h"
#include "stopping.h"
#include "sweeps.h"
#include "trainer.h"

int saved_load(const examiner *e, const char *path, saved_model *out)
{
    memset(out, 0, sizeof *out);
    if (state_load_options(e->ctx, e->set, KEEP_SHAPE, path) ||
        settings_finish(e->set, e->s, e->s->vmp_steps)) {
        complain("%s", e->set->error);
        return EXIT_USAGE;
    }
    out->s = *e->s;
    if (e->views(e->user, &out->views))
        return EXIT_USAGE;
    if (network_create(e->ctx, &out->s, &out->net))
        return EXIT_FAILED;
    state_create(out->net.p, &out->state);
    if (state_load(e->ctx, &out->net, path, &out->state) == 0)
        return 0;
    saved_destroy(out);
    return EXIT_FAILED;
}

void saved_destroy(saved_model *m)
{
    network_destroy(&m->net);
    state_destroy(&m->state);
}

/* "rba", and "rba-2" for the second of that name. */
static void name_result(int i, result *results)
{
    char word[24];
    size_t same = 1;
    settings_model_name(&results[i].s, word, sizeof word);
    for (int j = 0; j < i; j++) {
        char other[24];
        settings_model_name(&results[j].s, other, sizeof other);
        same += !strcmp(word, other);
    }
    if (same == 1)
        snprintf(results[i].name, sizeof results[i].name, "%s", word);
    else
        snprintf(results[i].name, sizeof results[i].name, "%s-%zu", word, same);
}

static int evaluate_views(npagg_ctx *ctx, const saved_model *m, result *out)
{
    const settings *s = &m->s;
    char title[96];
    for (int i = 0; i < m->views.count; i++) {
        const view *v = &m->views.at[i];
        scores_create(&v->source, s->tasks, s->batch, &out->at[i]);
        snprintf(title, sizeof title, "%s, %s%s%s %g:", out->name, v->group ? v->group : "",
                 v->group ? ", " : "", m->views.quantity, v->shown);
        if (evaluate(ctx, &m->net, m->state.params, &v->source, (uint64_t)s->eval_seed, v->level,
                     s->eval_samples, s->quiet ? NULL : title, &out->at[i]))
            return EXIT_FAILED;
        if (stopping_signal())
            return stopping_status(stopping_signal());
    }
    return EXIT_DONE;
}

static int examine_model(const examiner *e, int i, result *results, view_list *views)
{
    saved_model m;
    int status = saved_load(e, results[i].file, &m);
    if (status)
        return status;
    results[i].s = m.s;
    results[i].step = m.state.step;
    results[i].parameters = network_parameters(&m.net);
    *views = m.views;
    memcpy(results[i].data, m.views.data, sizeof results[i].data);
    name_result(i, results);
    status = evaluate_views(e->ctx, &m, &results[i]);
    saved_destroy(&m);
    return status;
}

/* "5008" tasks, or "4000 seen, 14800 unseen". */
static void print_counts(const view_list *views, const scores *at)
{
    const char *last = NULL;
    for (int i = 0; i < views->count; i++) {
        const char *group = views->at[i].group;
        if (i > 0 && (!group || !strcmp(group, last)))
            continue;
        printf("%s%lld%s%s", i ? ", " : "", (long long)at[i].tasks, group ? " " : "",
               group ? group : "");
        last = group;
    }
}

static void describe_models(int n, const result *results)
{
    for (int i = 0; i < n; i++)
        printf("%s is %s: seed %lld, step %lld, %lld parameters in encoder and decoder\n",
               results[i].name, results[i].file, (long long)results[i].s.seed,
               (long long)results[i].step, (long long)results[i].parameters);
}

static int write_results(const examiner *e, const view_list *views, int n, const result *results)
{
    const settings *s = e->s;
    if (views->at[0].group)
        describe_models(n, results);
    printf("%s, ", results[0].data);
    print_counts(views, results[0].at);
    printf(" tasks, %lld samples; mean ± standard error\n", (long long)s->eval_samples);
    report_print(views, n, results);
    if (s->table && report_write(s->table, views, n, results))
        return EXIT_FAILED;
    if (s->task_table && report_write_tasks(s->task_table, views, n, results))
        return EXIT_FAILED;
    return EXIT_DONE;
}

/* All files must be of the same batch size and data for their tasks to be the same. */
static int check_same_tasks(int n, const result *results)
{
    for (int i = 1; i < n; i++)
        if (results[i].s.batch != results[0].s.batch)
            return complain("%s and %s were trained with different --batch; give one for both",
                            results[0].file, results[i].file);
    return 0;
}

static int examine_all(const examiner *e, int n, result *results)
{
    view_list views = {0};
    for (int i = 0; i < n; i++) {
        const int status = examine_model(e, i, results, &views);
        if (status)
            return status;
        if (check_same_tasks(i + 1, results))
            return EXIT_USAGE;
        if (strcmp(results[0].data, results[i].data)) {
            complain("%s and %s were trained on different data; say which, by option",
                     results[0].file, results[i].file);
            return EXIT_USAGE;
        }
    }
    return write_results(e, &views, n, results);
}

int examine_models(const examiner *e)
{
    const char *one[] = {e->s->checkpoint};
    const char **files = e->set->n_files ? e->set->files : one;
    const int n = e->set->n_files ? e->set->n_files : e->s->checkpoint != NULL;
    if (!n) {
        complain("--eval wants a file to evaluate");
        return EXIT_USAGE;
    }
    if (e->s->sweeps)
        return sweeps_run(e, n, files);
    result *results = take((size_t)n, sizeof *results);
    for (int i = 0; i < n; i++)
        results[i].file = files[i];
    const int status = examine_all(e, n, results);
    for (int i = 0; i < n; i++)
        for (int at = 0; at < VIEWS_MOST; at++)
            scores_destroy(&results[i].at[at]);
    free(results);
    return status;
}
