/* What a program evaluates on: tasks of several groups, at several levels. */
#ifndef VIEWS_H
#define VIEWS_H

#include "batch.h"
#include "options.h"

enum { VIEWS_MOST = 2 * OPTIONS_REALS };

typedef struct {
    task_source source;
    double level;      /* of corruption */
    double shown;      /* the number that stands for the view in tables, the level or another */
    const char *group; /* "seen"; NULL if all tasks are of one kind */
} view;

typedef struct {
    const char *quantity;   /* what is shown: "gamma" */
    const char *corruption; /* its kind; NULL if there is one only */
    char data[4096];        /* a word for the tasks, without commas */
    int count;
    view at[VIEWS_MOST]; /* those of a group together, rising in what is shown */
} view_list;

#endif /* VIEWS_H */
