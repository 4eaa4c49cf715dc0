/*
 * A golden file as an inference problem, what the file says must come out, and what does come out.
 *
 * Both sides are lists of named arrays in the library's conventions: gradients are of logs,
 * d/dlog s = s g, and those of a mixture's logits are the files' own.
 */
#ifndef GOLDEN_CASE_H
#define GOLDEN_CASE_H

#include <stdint.h>

#include "golden.h"
#include "problem.h"

#define MAX_OUTPUTS 32
#define OUTPUT_NAME 24

typedef struct {
    char name[OUTPUT_NAME];
    int64_t n;
    double *x; /* [n] */
} output;

typedef struct {
    int count;
    output list[MAX_OUTPUTS];
} outputs;

/* How one kind of file calls things, and which gradients it has. */
typedef struct {
    const char *prefix;           /* of the file's name */
    prior_kind kind;              /* MIXTURE also for files with K = 1 */
    int robust, weighted;         /* Student-t factors, row weights */
    const char *mean, *var;       /* prior parameters; NULL for STUDENT */
    const char *logz, *dlogz;     /* evidence or bound and its cotangent */
    const char *dlogw;            /* cotangent of log_post_pi, or of post_pi */
    const char *gradients[2 + 1]; /* of the whole loss, then of parts of it; NULL ends */
} dialect;

typedef struct {
    const dialect *dialect;
    npagg_ctx *ctx;
    npagg_prior *prior;
    problem *problem;
} golden_case;

#define DIALECTS 5
extern const dialect dialects[DIALECTS];

/* The dialect of a file by its name, NULL if it is none of ours. */
const dialect *dialect_of(const char *file_name);

/*
 * Inputs, parameters and cotangents of the file. as_gaussian takes a one-component mixture for what
 * it also is. The caller calls golden_case_clear, whatever happened.
 */
void golden_case_load(golden_case *c, const dialect *how, const golden *file, int as_gaussian);
void golden_case_clear(golden_case *c);

/* What the file says; every array the library can compute must be in the file. */
void golden_case_want(const golden_case *c, const golden *file, outputs *out);

/* What the library computes in precision 32 or 64 from p, a variation of c->problem. */
void golden_case_run(const golden_case *c, const problem *p, int precision, outputs *out);

/* The array "gradient_name", or "name" if gradient is ""; NULL if there is none. */
const output *outputs_find(const outputs *out, const char *gradient, const char *name);
void outputs_clear(outputs *out);

/* max_i |x_i| */
double output_largest(const output *o);

#endif /* GOLDEN_CASE_H */
