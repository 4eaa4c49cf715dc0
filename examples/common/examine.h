/* Evaluation of saved models. */
#ifndef EXAMINE_H
#define EXAMINE_H

#include "network.h"
#include "run_state.h"
#include "views.h"

/* What a program has for it. views: the tasks, as the options that were restored say; 0, or -1
 * after a complaint. */
typedef struct {
    npagg_ctx *ctx;
    option_set *set;
    settings *s;
    int (*views)(void *user, view_list *out);
    void *user;
} examiner;

/* A model from a file; the options have its settings after, but those that were given. */
typedef struct {
    settings s;
    network net;
    run_state state;
    view_list views;
} saved_model;

/* 0, or an exit status after a complaint. */
int saved_load(const examiner *e, const char *path, saved_model *out);
void saved_destroy(saved_model *m);

/* --eval: the table of all files. Returns the exit status. */
int examine_models(const examiner *e);

#endif /* EXAMINE_H */
