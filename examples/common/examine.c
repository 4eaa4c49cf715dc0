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
    if (e->source(e->user, &out->source, &out->data))
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
    const char *word = model_words[results[i].s.model];
    int same = 1;
    for (int j = 0; j < i; j++)
        same += results[j].s.model == results[i].s.model;
    if (same == 1)
        snprintf(results[i].name, sizeof results[i].name, "%s", word);
    else
        snprintf(results[i].name, sizeof results[i].name, "%s-%d", word, same);
}

static int evaluate_levels(npagg_ctx *ctx, const saved_model *m, result *out)
{
    const settings *s = &m->s;
    char title[64];
    for (int i = 0; i < s->levels.count; i++) {
        scores_create(s->tasks, s->batch, &out->at[i]);
        snprintf(title, sizeof title, "%s, gamma %g:", out->name, s->levels.at[i]);
        if (evaluate(ctx, &m->net, m->state.params, &m->source, (uint64_t)s->eval_seed,
                     s->levels.at[i], s->eval_samples, s->quiet ? NULL : title, &out->at[i]))
            return EXIT_FAILED;
        if (stopping_signal())
            return stopping_status(stopping_signal());
    }
    return EXIT_DONE;
}

static int examine_model(const examiner *e, int i, result *results, const char **data)
{
    saved_model m;
    int status = saved_load(e, results[i].file, &m);
    if (status)
        return status;
    results[i].s = m.s;
    results[i].step = m.state.step;
    *data = m.data;
    name_result(i, results);
    status = evaluate_levels(e->ctx, &m, &results[i]);
    saved_destroy(&m);
    return status;
}

static int write_results(const examiner *e, const char *data, int n, const result *results)
{
    const settings *s = e->s;
    printf("%s, %lld tasks, %lld samples; mean ± standard error\n", data,
           (long long)results[0].at[0].tasks, (long long)s->eval_samples);
    report_print(&s->levels, n, results);
    if (s->table && report_write(s->table, data, &s->levels, n, results))
        return EXIT_FAILED;
    if (s->task_table && report_write_tasks(s->task_table, &s->levels, n, results))
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
    const char *data = "", *first = NULL;
    for (int i = 0; i < n; i++) {
        const int status = examine_model(e, i, results, &data);
        if (status)
            return status;
        if (check_same_tasks(i + 1, results))
            return EXIT_USAGE;
        if (first && strcmp(first, data)) {
            complain("%s and %s were trained on different data; say which, by option",
                     results[0].file, results[i].file);
            return EXIT_USAGE;
        }
        first = data;
    }
    return write_results(e, data, n, results);
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
        for (int level = 0; level < OPTIONS_REALS; level++)
            scores_destroy(&results[i].at[level]);
    free(results);
    return status;
}
