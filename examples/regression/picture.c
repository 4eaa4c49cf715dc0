#include "picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "gp.h"
#include "keyed.h"
#include "output_file.h"
#include "predictor.h"
#include "trainer.h"

/* A task with a grid to draw it on; what is shown is mid + unit times what the network sees. */
typedef struct {
    int64_t n;            /* context points */
    float *x, *y, *clean; /* [n] */
    float *grid, *truth;  /* [PICTURE_GRID]; truth NULL if nobody knows it */
    double x_mid, x_unit, y_mid, y_unit;
} scene;

static void create_scene(int64_t n, int known, scene *out)
{
    memset(out, 0, sizeof *out);
    out->n = n;
    out->x = take((size_t)n, sizeof(float));
    out->y = take((size_t)n, sizeof(float));
    out->clean = take((size_t)n, sizeof(float));
    out->grid = take(PICTURE_GRID, sizeof(float));
    out->truth = known ? take(PICTURE_GRID, sizeof(float)) : NULL;
    out->x_unit = out->y_unit = 1;
    for (int i = 0; i < PICTURE_GRID; i++)
        out->grid[i] = (float)(-2 + 4.0 * i / (PICTURE_GRID - 1));
}

static void destroy_scene(scene *s)
{
    free(s->x);
    free(s->y);
    free(s->clean);
    free(s->grid);
    free(s->truth);
}

/* A function at n random places and on the grid, in one draw; then the context is corrupted. */
static void draw_scene(const picture *p, uint64_t seed, int kind, double level, scene *out)
{
    const int64_t n = p->n_ctx, all = n + PICTURE_GRID;
    const uint64_t number = (uint64_t)p->task;
    double u[2], *e = take((size_t)all, sizeof *e), *r = take((size_t)(2 * n), sizeof *r);
    double *work = take((size_t)(all * all), sizeof *work);
    float *x = take((size_t)(2 * all), sizeof *x), *y = x + all;
    create_scene(n, 1, out);
    key_uniform(seed, KEY_FUNCTION, number, 2, u);
    key_uniform(seed, KEY_PLACES, number, n, r);
    key_normal(seed, KEY_VALUES, number, all, e);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(4 * r[i] - 2);
    memcpy(x + n, out->grid, PICTURE_GRID * sizeof *x);
    const gp_kernel kernel = gp_kernel_draw(kind, u[0], u[1]);
    gp_draw(&kernel, all, x, e, work, y);
    memcpy(out->x, x, (size_t)n * sizeof *x);
    memcpy(out->clean, y, (size_t)n * sizeof *y);
    memcpy(out->truth, y + n, PICTURE_GRID * sizeof *y);
    key_uniform(seed, KEY_OUTLIERS, number, 2 * n, r);
    for (int64_t i = 0; i < n; i++)
        out->y[i] = y[i] + (float)(level * key_student(2.1, r[2 * i], r[2 * i + 1]));
    free(x);
    free(work);
    free(r);
    free(e);
}

/* All points of a task of the file; the grid is as wide as they are. */
static int read_scene(const picture *p, const own_tasks *own, scene *out)
{
    const csv_file *file = &own->file;
    const int64_t t = p->task - 1;
    if (t >= file->tasks)
        return complain("--task %lld: the file has %lld", (long long)p->task,
                        (long long)file->tasks);
    if (file->x_dim != 1 || file->y_dim != 1)
        return complain("--predict wants tasks of one x and one y, got x [%lld] and y [%lld]",
                        (long long)file->x_dim, (long long)file->y_dim);
    const int64_t from = file->offsets[t], n = file->offsets[t + 1] - from;
    float lo = own->x[from], hi = lo;
    create_scene(n, 0, out);
    memcpy(out->x, own->x + from, (size_t)n * sizeof(float));
    memcpy(out->y, own->y + from, (size_t)n * sizeof(float));
    memcpy(out->clean, out->y, (size_t)n * sizeof(float));
    for (int64_t i = 0; i < n; i++) {
        lo = fminf(lo, out->x[i]);
        hi = fmaxf(hi, out->x[i]);
    }
    for (int i = 0; i < PICTURE_GRID; i++)
        out->grid[i] = lo + (hi - lo) * (float)i / (PICTURE_GRID - 1);
    out->x_mid = own->x_mid[t];
    out->x_unit = own->x_unit[t];
    out->y_mid = own->y_mid[t];
    out->y_unit = own->y_unit[t];
    return 0;
}

static double shown_x(const scene *s, float x)
{
    return s->x_mid + s->x_unit * (double)x;
}

static double shown_y(const scene *s, float y)
{
    return s->y_mid + s->y_unit * (double)y;
}

static int write_context(const char *prefix, const scene *s, const float *weight)
{
    char path[4200];
    snprintf(path, sizeof path, "%s-context.csv", prefix);
    FILE *file = output_open(path);
    if (!file)
        return -1;
    fputs("x,y,y_clean,weight\n", file);
    for (int64_t i = 0; i < s->n; i++)
        fprintf(file, "%.9g,%.9g,%.9g,%.6g\n", shown_x(s, s->x[i]), shown_y(s, s->y[i]),
                shown_y(s, s->clean[i]), (double)weight[i]);
    return output_close(file, path);
}

/* samples [PICTURE_GRID,S,2]: mean and sd of each. */
static int write_curves(const char *prefix, const scene *s, int64_t n_samples, int64_t shown,
                        const answer *a)
{
    char path[4200];
    snprintf(path, sizeof path, "%s-curve.csv", prefix);
    FILE *file = output_open(path);
    if (!file)
        return -1;
    fputs("x,mean,sd,truth", file);
    for (int64_t k = 1; k <= shown; k++)
        fprintf(file, ",sample%lld", (long long)k);
    fputc('\n', file);
    for (int i = 0; i < PICTURE_GRID; i++) {
        fprintf(file, "%.9g,%.9g,%.9g,", shown_x(s, s->grid[i]), shown_y(s, a->mean[i]),
                s->y_unit * (double)a->sd[i]);
        if (s->truth)
            fprintf(file, "%.9g", shown_y(s, s->truth[i]));
        for (int64_t k = 0; k < shown; k++)
            fprintf(file, ",%.9g", shown_y(s, a->samples[2 * (i * n_samples + k)]));
        fputc('\n', file);
    }
    return output_close(file, path);
}

static int answer_scene(const examiner *e, const saved_model *m, const picture *p, const scene *s)
{
    const int64_t ctx_offsets[] = {0, s->n}, tgt_offsets[] = {0, PICTURE_GRID};
    const int64_t n_samples = m->s.eval_samples,
                  shown = p->samples < n_samples ? p->samples : n_samples;
    float *room = take((size_t)(PICTURE_GRID * (2 + 2 * n_samples) + s->n), sizeof *room);
    const answer a = {.mean = room,
                      .sd = room + PICTURE_GRID,
                      .samples = room + 2 * PICTURE_GRID,
                      .weight = room + PICTURE_GRID * (2 + 2 * n_samples)};
    const question q = {1, ctx_offsets, tgt_offsets, s->x, s->y, s->grid, NULL};
    predictor predict;
    predictor_create(&m->net, 1, n_samples, &predict);
    int bad = predictor_run(e->ctx, &predict, &m->net, m->state.params, (uint64_t)m->s.eval_seed,
                            (uint64_t)p->task, &q, &a) != NPAGG_OK;
    if (bad)
        complain("the prediction failed: %s", npagg_ctx_error(e->ctx));
    else
        bad = write_context(p->prefix, s, a.weight) ||
              write_curves(p->prefix, s, n_samples, shown, &a);
    predictor_destroy(&predict);
    free(room);
    return bad ? EXIT_FAILED : EXIT_DONE;
}

int picture_write(const examiner *e, const picture *p, const own_tasks *own, const int64_t *kernel)
{
    const settings *s = e->s;
    saved_model m;
    scene shown = {0};
    int status = saved_load(e, e->set->n_files ? e->set->files[0] : s->checkpoint, &m);
    if (status)
        return status;
    const uint64_t seed = key_seed((uint64_t)s->eval_seed, KEY_TEST);
    if (!own)
        draw_scene(p, seed, (int)*kernel, s->levels.at[s->levels.count - 1], &shown);
    else if (read_scene(p, own, &shown))
        status = EXIT_USAGE;
    if (!status) {
        status = answer_scene(e, &m, p, &shown);
        destroy_scene(&shown);
    }
    saved_destroy(&m);
    return status;
}
