#include "sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "image_tasks.h"
#include "keyed.h"
#include "output_file.h"
#include "predictor.h"
#include "trainer.h"

enum { NOTHING, GREY, MISSING, SD, WEIGHT };
enum { GAP = 2, BLOCK_GAP = 8, MOST_MODELS = 8, MODEL_COLUMNS = 5 };

/* A column of tiles; a value that is not a number is missing. */
typedef struct {
    const char *title;
    int what, model; /* model: of which it is, -1 of none */
    float *value;    /* [rows,pixels] */
} column;

typedef struct {
    const sheet *s;
    uint64_t seed;
    int64_t rows, pixels;
    int n_columns, n_models;
    column columns[2 + MOST_MODELS * MODEL_COLUMNS];
    char models[MOST_MODELS][24];
    int64_t *order;  /* [pixels] contexts are the first of them */
    float *places;   /* [pixels,2] */
    float *xc, *yc;  /* [pixels,2], [pixels] of one row */
    double *uniform; /* [2 pixels] */
} easel;

static column *add_column(easel *w, const char *title, int what, int model)
{
    column *c = &w->columns[w->n_columns++];
    *c = (column){title, what, model, take((size_t)(w->rows * w->pixels), sizeof *c->value)};
    for (int64_t i = 0; i < w->rows * w->pixels; i++)
        c->value[i] = NAN;
    return c;
}

static void create_easel(const examiner *e, const sheet *s, easel *w)
{
    const int64_t width = s->set->width;
    memset(w, 0, sizeof *w);
    w->s = s;
    w->seed = key_seed((uint64_t)e->s->eval_seed, KEY_TEST);
    w->rows = s->sizes->count * (s->severity > 0 ? 2 : 1);
    w->pixels = s->set->height * width;
    const size_t n = (size_t)w->pixels;
    w->order = take(n, sizeof *w->order);
    w->places = take(2 * n, sizeof *w->places);
    w->xc = take(2 * n, sizeof *w->xc);
    w->yc = take(n, sizeof *w->yc);
    w->uniform = take(2 * n, sizeof *w->uniform);
    key_uniform(w->seed, KEY_PLACES, (uint64_t)s->image, w->pixels, w->uniform);
    key_order(w->pixels, w->pixels, w->uniform, w->order);
    key_uniform(w->seed, KEY_OUTLIERS, (uint64_t)s->image, 2 * w->pixels, w->uniform);
    for (int64_t i = 0; i < w->pixels; i++) {
        float y;
        image_point(s->set, s->image - 1, i / width, i % width, w->places + 2 * i, &y);
    }
}

static void destroy_easel(easel *w)
{
    for (int i = 0; i < w->n_columns; i++)
        free(w->columns[i].value);
    free(w->order);
    free(w->places);
    free(w->xc);
    free(w->yc);
    free(w->uniform);
}

static int64_t context_size(const easel *w, int64_t row)
{
    return (int64_t)w->s->sizes->at[row % w->s->sizes->count];
}

static int row_severity(const easel *w, int64_t row)
{
    return row < w->s->sizes->count ? 0 : w->s->severity;
}

/* The value of a pixel as a context of this row shows it. */
static float seen_value(const easel *w, int64_t row, int64_t pixel)
{
    const sheet *s = w->s;
    const int severity = row_severity(w, row), pixelate = s->kind == CORRUPT_PIXELATE;
    int64_t r = pixel / s->set->width, c = pixel % s->set->width;
    float x[2], y;
    if (pixelate) {
        r = corrupt_place(severity, s->set->height, r);
        c = corrupt_place(severity, s->set->width, c);
    }
    image_point(s->set, s->image - 1, r, c, x, &y);
    if (pixelate)
        return y;
    return (float)(corrupt_value(s->kind, severity, (double)y + 0.5, w->uniform[2 * pixel],
                                 w->uniform[2 * pixel + 1]) -
                   0.5);
}

/* xc, yc of the row; returns the number of points. */
static int64_t fill_context(easel *w, int64_t row)
{
    const int64_t n = context_size(w, row);
    for (int64_t i = 0; i < n; i++) {
        memcpy(w->xc + 2 * i, w->places + 2 * w->order[i], 2 * sizeof *w->xc);
        w->yc[i] = seen_value(w, row, w->order[i]);
    }
    return n;
}

static void draw_contexts(easel *w)
{
    column *c = add_column(w, "context", GREY, -1);
    for (int64_t row = 0; row < w->rows; row++) {
        const int64_t n = fill_context(w, row);
        for (int64_t i = 0; i < n; i++)
            c->value[row * w->pixels + w->order[i]] = w->yc[i] + 0.5f;
    }
}

static void draw_truth(easel *w)
{
    column *c = add_column(w, "truth", GREY, -1);
    for (int64_t i = 0; i < w->rows * w->pixels; i++) {
        const int64_t pixel = i % w->pixels, width = w->s->set->width;
        float x[2];
        image_point(w->s->set, w->s->image - 1, pixel / width, pixel % width, x, c->value + i);
        c->value[i] += 0.5f;
    }
}

/* Tiles of a row from an answer; c: mean, sd, samples, weights. */
static void keep_answer(const easel *w, int64_t row, int64_t n_samples, int robust, const answer *a,
                        column *c)
{
    const int64_t from = row * w->pixels, n = context_size(w, row);
    float heaviest = 0;
    for (int64_t i = 0; i < w->pixels; i++) {
        c[0].value[from + i] = a->mean[i] + 0.5f;
        c[1].value[from + i] = a->sd[i];
        for (int64_t k = 0; k < 2; k++)
            c[2 + k].value[from + i] = a->samples[2 * (i * n_samples + k)] + 0.5f;
    }
    for (int64_t i = 0; i < n; i++)
        heaviest = fmaxf(heaviest, a->weight[i]);
    for (int64_t i = 0; robust && i < n; i++)
        c[4].value[from + w->order[i]] = a->weight[i] / heaviest;
}

static int draw_row(const examiner *e, const saved_model *m, int64_t row, predictor *p,
                    const answer *a, easel *w, column *c)
{
    const int64_t ctx_offsets[] = {0, fill_context(w, row)}, tgt_offsets[] = {0, w->pixels};
    const question q = {1, ctx_offsets, tgt_offsets, w->xc, w->yc, w->places, NULL};
    if (predictor_run(e->ctx, p, &m->net, m->state.params, (uint64_t)m->s.eval_seed,
                      (uint64_t)w->s->image, &q, a))
        return complain("the prediction failed: %s", npagg_ctx_error(e->ctx));
    keep_answer(w, row, p->n_samples, model_is_robust(m->s.model), a, c);
    return 0;
}

static int draw_model(const examiner *e, const saved_model *m, easel *w)
{
    const int64_t n_samples = m->s.eval_samples > 2 ? m->s.eval_samples : 2, n = w->pixels;
    float *room = take((size_t)(n * (3 + 2 * n_samples)), sizeof *room);
    const answer a = {
        .mean = room, .sd = room + n, .weight = room + 2 * n, .samples = room + 3 * n};
    const int model = w->n_models++;
    column *c = add_column(w, "mean", GREY, model);
    predictor p;
    int bad = 0;
    settings_model_name(&m->s, w->models[model], sizeof w->models[model]);
    add_column(w, "sd", SD, model);
    add_column(w, "sample", GREY, model);
    add_column(w, "sample", GREY, model);
    if (model_is_robust(m->s.model))
        add_column(w, "weight", WEIGHT, model);
    predictor_create(&m->net, 1, n_samples, &p);
    for (int64_t row = 0; row < w->rows && !bad; row++)
        bad = draw_row(e, m, row, &p, &a, w, c);
    predictor_destroy(&p);
    free(room);
    return bad;
}

/* Where a column's tiles begin; i = n_columns: where the sheet ends. */
static int64_t column_place(const easel *w, int i)
{
    int64_t x = 0;
    for (int k = 0; k < i; k++) {
        const int next = k + 1 < w->n_columns ? w->columns[k + 1].model : -2;
        x += w->s->set->width + (next == w->columns[k].model ? GAP : next == -2 ? 0 : BLOCK_GAP);
    }
    return x;
}

/* The corrupted rows stand a little apart. */
static int64_t row_place(const easel *w, int64_t row)
{
    const int64_t each = w->s->set->height + GAP;
    return row * each + (row >= w->s->sizes->count ? BLOCK_GAP : 0);
}

static void write_pixel(FILE *file, int64_t x, int64_t y, int what, float value)
{
    if (what != NOTHING && isnan(value))
        what = MISSING;
    fprintf(file, "%lld,%lld,%d,%.4g\n", (long long)x, (long long)y, what,
            isnan(value) ? 0 : (double)value);
}

/* One line of pixels of the sheet, through row `row` at `line`, or between rows (row -1). */
static void write_line(const easel *w, int64_t y, int64_t row, int64_t line, FILE *file)
{
    const int64_t width = w->s->set->width;
    int64_t x = 0;
    for (int i = 0; i < w->n_columns; i++) {
        const column *c = &w->columns[i];
        for (; x < column_place(w, i); x++)
            write_pixel(file, x, y, NOTHING, 0);
        for (int64_t k = 0; k < width; k++, x++)
            if (row < 0)
                write_pixel(file, x, y, NOTHING, 0);
            else
                write_pixel(file, x, y, c->what, c->value[row * w->pixels + line * width + k]);
    }
}

static int write_pixels(const easel *w)
{
    char path[4200];
    snprintf(path, sizeof path, "%s.csv", w->s->prefix);
    FILE *file = output_open(path);
    const int64_t height = w->s->set->height;
    int64_t y = 0;
    if (!file)
        return -1;
    fputs("x,y,what,value\n", file);
    for (int64_t row = 0; row < w->rows; row++) {
        for (; y < row_place(w, row); y++)
            write_line(w, y, -1, 0, file);
        for (int64_t line = 0; line < height; line++, y++)
            write_line(w, y, row, line, file);
    }
    return output_close(file, path);
}

static int write_labels(const easel *w)
{
    const sheet *s = w->s;
    const double half_width = (double)(s->set->width - 1) / 2;
    const double half_height = (double)(s->set->height - 1) / 2;
    char path[4200];
    snprintf(path, sizeof path, "%s-labels.csv", s->prefix);
    FILE *file = output_open(path);
    if (!file)
        return -1;
    fputs("x,y,what,text\n", file);
    for (int i = 0; i < w->n_columns; i++)
        fprintf(file, "%g,0,column,%s\n", (double)column_place(w, i) + half_width,
                w->columns[i].title);
    for (int model = 0; model < w->n_models; model++) {
        int from = 1, to;
        while (w->columns[from].model != model)
            from++;
        for (to = from; w->columns[to + 1].model == model;)
            to++;
        fprintf(file, "%g,0,model,%s\n",
                (double)(column_place(w, from) + column_place(w, to)) / 2 + half_width,
                w->models[model]);
    }
    for (int64_t row = 0; row < w->rows; row++)
        fprintf(file, "0,%g,row,%lld%s\n", (double)row_place(w, row) + half_height,
                (long long)context_size(w, row), row_severity(w, row) ? " corrupted" : "");
    return output_close(file, path);
}

static int draw_models(const examiner *e, int n, const char **files, easel *w)
{
    for (int i = 0; i < n; i++) {
        saved_model m;
        const int status = saved_load(e, files[i], &m);
        if (status)
            return status;
        const int bad = draw_model(e, &m, w);
        saved_destroy(&m);
        if (bad)
            return EXIT_FAILED;
    }
    return EXIT_DONE;
}

int sheet_write(const examiner *e, const sheet *s)
{
    const char *one[] = {e->s->checkpoint};
    const int n = e->set->n_files ? e->set->n_files : e->s->checkpoint != NULL;
    easel w;
    if (n < 1 || n > MOST_MODELS) {
        complain("--sheet wants 1 to %d FILEs", MOST_MODELS);
        return EXIT_USAGE;
    }
    create_easel(e, s, &w);
    draw_contexts(&w);
    int status = draw_models(e, n, e->set->n_files ? e->set->files : one, &w);
    draw_truth(&w);
    if (!status && (write_pixels(&w) || write_labels(&w)))
        status = EXIT_FAILED;
    destroy_easel(&w);
    return status;
}
