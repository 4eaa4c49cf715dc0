#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output_file.h"

figures figures_of(const scores *s)
{
    return (figures){
        average_of(s->tasks, s->ctx_ll, NULL),
        average_of(s->tasks, s->tgt_ll, NULL),
        average_of(s->batches, s->ctx_rmse, NULL),
        average_of(s->batches, s->tgt_rmse, NULL),
    };
}

void report_average(average a)
{
    if (isnan(a.error))
        printf("  %7.4f         ", a.mean);
    else
        printf("  %7.4f ± %.4f", a.mean, a.error);
}

static void print_line(const view *v, int width, const result *first, const result *r, int at)
{
    const figures f = figures_of(&r->at[at]);
    if (v->group)
        printf("%-6s  ", v->group);
    printf("%*g  %-8s", width, v->shown, r->name);
    report_average(f.ctx_ll);
    report_average(f.tgt_ll);
    report_average(f.ctx_rmse);
    report_average(f.tgt_rmse);
    if (r != first)
        report_average(average_of(r->at[at].tasks, r->at[at].tgt_ll, first->at[at].tgt_ll));
    printf("\n");
}

void report_print(const view_list *views, int n, const result *results)
{
    const int least = 6, length = (int)strlen(views->quantity);
    const int width = length > least ? length : least;
    if (views->at[0].group)
        printf("%-6s  ", "tasks");
    printf("%*s  %-8s  %-16s  %-16s  %-16s  %-16s", width, views->quantity, "model",
           "context log-lik.", "target log-lik.", "context RMSE", "target RMSE");
    if (n > 1)
        printf("  target log-lik. minus %s's", results[0].name);
    printf("\n");
    for (int at = 0; at < views->count; at++) {
        for (int i = 0; i < n; i++)
            print_line(&views->at[at], width, &results[0], &results[i], at);
        if (n > 1 && at + 1 < views->count)
            printf("\n");
    }
}

void report_write_average(FILE *file, average a)
{
    fprintf(file, ",%.9g,", a.mean);
    if (!isnan(a.error))
        fprintf(file, "%.9g", a.error);
}

const char *report_corruption(const view_list *views, const view *v)
{
    return v->level > 0 ? views->corruption : "none";
}

static void write_line(FILE *file, const view_list *views, const result *first, const result *r,
                       int at)
{
    const view *v = &views->at[at];
    const scores *s = &r->at[at];
    const figures f = figures_of(s);
    fprintf(file, "%s,%s,%s,%lld,%lld,%lld,%g,%lld,%lld", r->name, r->data, r->file,
            (long long)r->s.seed, (long long)r->step, (long long)r->s.vmp_steps, v->shown,
            (long long)s->tasks, (long long)r->s.eval_samples);
    report_write_average(file, f.ctx_ll);
    report_write_average(file, f.tgt_ll);
    report_write_average(file, f.ctx_rmse);
    report_write_average(file, f.tgt_rmse);
    report_write_average(file, average_of(s->tasks, s->tgt_ll, first->at[at].tgt_ll));
    if (v->group)
        fprintf(file, ",%s,%g,%lld,%lld,%s", v->group, v->level, (long long)r->s.samples,
                (long long)r->parameters, report_corruption(views, v));
    fputc('\n', file);
}

int report_write(const char *path, const view_list *views, int n, const result *results)
{
    FILE *file = output_open(path);
    if (!file)
        return -1;
    fprintf(file,
            "model,data,file,seed,step,vmp_steps,%s,tasks,samples,ctx_ll,ctx_ll_se,tgt_ll,"
            "tgt_ll_se,ctx_rmse,ctx_rmse_se,tgt_rmse,tgt_rmse_se,tgt_ll_minus_first,"
            "tgt_ll_minus_first_se%s\n",
            views->quantity,
            views->at[0].group ? ",group,level,train_samples,parameters,corruption" : "");
    for (int i = 0; i < n; i++)
        for (int at = 0; at < views->count; at++)
            write_line(file, views, &results[0], &results[i], at);
    return output_close(file, path);
}

static void write_tasks(FILE *file, const view *v, const result *r, int at)
{
    const scores *s = &r->at[at];
    for (int64_t task = 0; task < s->tasks; task++) {
        fprintf(file, "%s,%g,%lld,%d,%d,%.9g,%.9g", r->name, v->shown, (long long)task,
                (int)s->n_ctx[task], (int)s->n_tgt[task], s->ctx_ll[task], s->tgt_ll[task]);
        fprintf(file, "%s%s\n", v->group ? "," : "", v->group ? v->group : "");
    }
}

int report_write_tasks(const char *path, const view_list *views, int n, const result *results)
{
    FILE *file = output_open(path);
    if (!file)
        return -1;
    fprintf(file, "model,%s,task,n_ctx,n_tgt,ctx_ll,tgt_ll%s\n", views->quantity,
            views->at[0].group ? ",group" : "");
    for (int i = 0; i < n; i++)
        for (int at = 0; at < views->count; at++)
            write_tasks(file, &views->at[at], &results[i], at);
    return output_close(file, path);
}
