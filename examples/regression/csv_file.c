#include "csv_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"

#define CSV_LARGEST 1e30 /* so that sums of squares are finite */

/* The file as it is read. */
typedef struct {
    const char *path;
    long line;
    int columns;
    char *cell[CSV_COLUMNS];
    const char *head[CSV_COLUMNS]; /* names of the columns */
    int64_t room_points, room_tasks;
    csv_file *out;
} reader;

/* p with room for more than n elements of this size. */
static void *grow(void *p, int64_t n, int64_t *room, size_t size)
{
    if (n < *room)
        return p;
    *room = *room ? 2 * *room : 256;
    p = realloc(p, (size_t)*room * size);
    if (!p) {
        complain("out of memory");
        exit(1);
    }
    return p;
}

/* Cuts a line into cells, without blanks around them; returns their number, of which cell has
 * CSV_COLUMNS at most. */
static int cut_line(char *line, char **cell)
{
    int n = 0;
    for (char *next = line; next; n++) {
        char *at = next + strspn(next, " \t");
        next = strchr(at, ',');
        if (next)
            *next++ = 0;
        for (size_t end = strlen(at); end && strchr(" \t", at[end - 1]); end--)
            at[end - 1] = 0;
        if (n < CSV_COLUMNS)
            cell[n] = at;
    }
    return n;
}

/* The beginning of a line as it can be shown. */
static void quote_line(const char *line, size_t size, char *out)
{
    snprintf(out, size, "%s", line);
    for (; *out; out++)
        if ((unsigned char)*out < ' ')
            *out = '?';
}

/* "task", then columns x..., then columns y... */
static int read_header(reader *r, char *line)
{
    csv_file *out = r->out;
    char shown[64];
    int i = 1;
    quote_line(line, sizeof shown, shown);
    r->columns = cut_line(line, r->cell);
    if (r->columns > CSV_COLUMNS)
        return complain("%s:1: %d columns, want at most %d", r->path, r->columns, CSV_COLUMNS);
    for (; i < r->columns && r->cell[i][0] == 'x'; i++)
        out->x_dim++;
    for (; i < r->columns && r->cell[i][0] == 'y'; i++)
        out->y_dim++;
    if (strcmp(r->cell[0], "task") || i < r->columns || !out->x_dim || !out->y_dim)
        return complain("%s:1: the header begins \"%s\", want \"task,x...,y...\"", r->path, shown);
    for (i = 0; i < r->columns; i++)
        r->head[i] = strdup(r->cell[i]);
    return 0;
}

static int read_number(const reader *r, int column, double *out)
{
    char *end;
    const char *text = r->cell[column];
    *out = strtod(text, &end);
    if (end == text || *end || !(fabs(*out) <= CSV_LARGEST))
        return complain("%s:%ld: %s is \"%s\", want a finite number, %g at most in size", r->path,
                        r->line, r->head[column], text, CSV_LARGEST);
    return 0;
}

static void begin_task(reader *r, const char *name)
{
    csv_file *out = r->out;
    int64_t room = r->room_tasks;
    out->names = grow(out->names, out->tasks, &room, sizeof *out->names);
    room = r->room_tasks;
    out->lines = grow(out->lines, out->tasks, &room, sizeof *out->lines);
    out->offsets = grow(out->offsets, out->tasks + 1, &r->room_tasks, sizeof *out->offsets);
    r->room_tasks = room;
    out->names[out->tasks] = strdup(name);
    out->lines[out->tasks] = r->line;
    out->offsets[out->tasks++] = out->points;
}

static int read_point(reader *r, char *line)
{
    csv_file *out = r->out;
    const int n = cut_line(line, r->cell);
    if (n == 1 && !r->cell[0][0])
        return 0;
    if (n != r->columns)
        return complain("%s:%ld: %d columns, want %d", r->path, r->line, n, r->columns);
    if (!out->tasks || strcmp(out->names[out->tasks - 1], r->cell[0]))
        begin_task(r, r->cell[0]);
    int64_t room = r->room_points;
    out->x = grow(out->x, out->points, &room, (size_t)out->x_dim * sizeof *out->x);
    out->y = grow(out->y, out->points, &r->room_points, (size_t)out->y_dim * sizeof *out->y);
    for (int64_t i = 0; i < out->x_dim; i++)
        if (read_number(r, (int)(1 + i), out->x + out->points * out->x_dim + i))
            return -1;
    for (int64_t i = 0; i < out->y_dim; i++)
        if (read_number(r, (int)(1 + out->x_dim + i), out->y + out->points * out->y_dim + i))
            return -1;
    out->points++;
    return 0;
}

/* line [n], which may end as on Windows, and begin with the mark of UTF-8. */
static int read_line(reader *r, char *line, size_t n)
{
    r->line++;
    if (memchr(line, 0, n))
        return complain("%s:%ld: there is a zero byte, want text", r->path, r->line);
    while (n && strchr("\r\n", line[n - 1]))
        line[--n] = 0;
    if (r->line > 1)
        return read_point(r, line);
    return read_header(r, line + (strncmp(line, "\xef\xbb\xbf", 3) ? 0 : 3));
}

static int read_lines(reader *r, FILE *file)
{
    char *line = NULL;
    size_t size = 0;
    int bad = 0;
    for (ssize_t n; !bad && (n = getline(&line, &size, file)) >= 0;)
        bad = read_line(r, line, (size_t)n);
    free(line);
    for (int i = 0; i < CSV_COLUMNS; i++)
        free((char *)r->head[i]);
    return bad;
}

typedef struct {
    const char *name;
    int64_t line;
} beginning;

/* By name, then by line. */
static int compare_beginnings(const void *a, const void *b)
{
    const beginning *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    return names ? names : (x->line > y->line) - (x->line < y->line);
}

/* A name that begins twice is a task in pieces. */
static int check_names(const reader *r)
{
    const csv_file *out = r->out;
    beginning *sorted = take((size_t)out->tasks, sizeof *sorted);
    int bad = 0;
    for (int64_t i = 0; i < out->tasks; i++)
        sorted[i] = (beginning){out->names[i], out->lines[i]};
    qsort(sorted, (size_t)out->tasks, sizeof *sorted, compare_beginnings);
    for (int64_t i = 1; i < out->tasks && !bad; i++)
        if (!strcmp(sorted[i - 1].name, sorted[i].name))
            bad = complain("%s:%lld: task \"%s\" has begun in line %lld already; want its lines "
                           "together",
                           r->path, (long long)sorted[i].line, sorted[i].name,
                           (long long)sorted[i - 1].line);
    free(sorted);
    return bad;
}

static int check_tasks(reader *r)
{
    csv_file *out = r->out;
    if (!out->tasks)
        return complain("%s: no points in it", r->path);
    if (check_names(r))
        return -1;
    out->offsets[out->tasks] = out->points;
    for (int64_t i = 0; i < out->tasks; i++) {
        const int64_t n = out->offsets[i + 1] - out->offsets[i];
        if (n < CSV_LEAST)
            return complain("%s:%lld: task \"%s\" has %lld points, want at least %d", r->path,
                            (long long)out->lines[i], out->names[i], (long long)n, CSV_LEAST);
    }
    return 0;
}

/* FNV-1a over the bits of x [n]. */
static uint64_t add_checksum(uint64_t sum, int64_t n, const double *x)
{
    const unsigned char *byte = (const unsigned char *)x;
    for (size_t i = 0; i < (size_t)n * sizeof *x; i++)
        sum = (sum ^ byte[i]) * UINT64_C(0x100000001b3);
    return sum;
}

int csv_file_load(const char *path, csv_file *out)
{
    memset(out, 0, sizeof *out);
    reader r = {.path = path, .out = out};
    FILE *file = fopen(path, "r");
    if (!file)
        return complain("%s cannot be read: %s", path, strerror(errno));
    int bad = read_lines(&r, file);
    if (!bad && ferror(file))
        bad = complain("%s cannot be read: %s", path, strerror(errno));
    fclose(file);
    if (!bad)
        bad = check_tasks(&r);
    if (bad) {
        csv_file_destroy(out);
        return -1;
    }
    const uint64_t sum =
        add_checksum(UINT64_C(0xcbf29ce484222325), out->points * out->x_dim, out->x);
    out->checksum = add_checksum(sum, out->points * out->y_dim, out->y) >> 11;
    return 0;
}

void csv_file_destroy(csv_file *f)
{
    for (int64_t i = 0; i < f->tasks; i++)
        free(f->names[i]);
    free(f->names);
    free(f->lines);
    free(f->offsets);
    free(f->x);
    free(f->y);
    memset(f, 0, sizeof *f);
}
