/* A random batch for an encoder, its run through the library in either precision, and the same in
 * plain loops. All arrays are double. */
#ifndef ENCODER_CASE_H
#define ENCODER_CASE_H

#include "check.h"
#include "numbers.h"

/* What is asked for; what is 0 is the default. */
typedef enum { POINTS, MEAN, ATTENTION } encoder_kind;

typedef struct {
    int64_t x_dim, y_dim, d, n_hidden, widths[4];
    int32_t activation, trunk;
    double lo, hi;
    encoder_kind kind;
    int64_t n_post, post_widths[4], n_heads; /* of encoders of sets, whose pre_widths are widths */
} encoder_shape;

typedef struct {
    npagg_encoder *encoder;
    const encoder_shape *shape;
    int64_t x_dim, y_dim, d;
    double lo, hi;
    int64_t n_sets, n, p;
    int64_t n_out; /* rows of m and v: N, or B of an encoder of sets */
    int64_t *offsets;
    double *params, *x, *y; /* [P], [N,X], [N,Y] */
    double *dm, *dv;        /* [n_out,D]; may be set to NULL */
} encoder_case;

typedef struct {
    double *m, *v;             /* [n_out,D] */
    double *dparams, *dx, *dy; /* [P], [N,X], [N,Y] */
} encoder_result;

/* Parameters from init_params, twice as large; the rest normal; all of it rounded to float. */
encoder_case *encoder_case_create(npagg_ctx *ctx, const encoder_shape *shape, int64_t n_sets,
                                  const int64_t *sizes, uint64_t seed);
void encoder_case_destroy(encoder_case *c);

/* Set b of a case as a case of its own, which borrows the encoder. */
encoder_case *encoder_case_pick(const encoder_case *c, int64_t b);
void encoder_case_end_pick(encoder_case *one);

encoder_result *encoder_run(npagg_ctx *ctx, const encoder_case *c, int precision,
                            npagg_cache *cache);
/* m and v only, without a cache. */
encoder_result *encoder_run_forward(npagg_ctx *ctx, const encoder_case *c, int precision);
encoder_result *encoder_run_plain(const encoder_case *c);
void encoder_result_destroy(encoder_result *r);

/* sum(dm m) + sum(dv v) of the library in f64. */
double encoder_loss(npagg_ctx *ctx, const encoder_case *c);

/* The derivative of the loss along one random direction in x [n], an array of the case, is that
 * which dx [n] says. */
void encoder_check_direction(npagg_ctx *ctx, const encoder_case *c, int64_t n, double *x,
                             const double *dx);

#endif /* ENCODER_CASE_H */
