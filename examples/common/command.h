/*
 * A trainer as a program: what is the same whatever it trains on. It trains, evaluates (--eval) or
 * draws; a run that goes on has the options and the data it began with.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include "examine.h"

typedef struct {
    const char *name;       /* "npagg-regression" */
    const char *with_files; /* options that take files: "--eval and --predict take files" */
    option_set *set;
    settings *s;
    int64_t version;
    int64_t *checksum; /* of the data, kept with a run; load sets it */
    void *user;        /* of the functions below */

    /* The data that the options say. 0, or -1 after a complaint. */
    int (*load)(void *user);
    /* What a run that began with other data is told to have now. */
    const char *(*data)(void *user);
    /* Options that depend on others, those of a run having been restored. 0, or -1 with set->error. */
    int (*finish)(void *user);
    /* To train on, and to watch. 0, or -1 after a complaint. */
    int (*sources)(void *user, task_source *train, task_source *watch);
    /* To evaluate on, as examiner has it. */
    int (*views)(void *user, view_list *out);
    /* Draws if it was asked to: its exit status, or -1. */
    int (*draw)(const examiner *e, void *user);
    /* Says what is about to be trained; may be NULL. */
    void (*announce)(npagg_ctx *ctx, void *user);
    void (*close)(void *user);
} command;

/* The options --version and --help, to be offered last. */
void command_offer(command *c);

/* Reads the options and does what they say. Returns the exit status. */
int command_run(command *c, int argc, char **argv);

#endif /* COMMAND_H */
