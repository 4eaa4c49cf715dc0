/* A random batch for a decoder, its run through the library in either precision, and the same in
 * plain loops. All arrays are double. */
#ifndef DECODER_CASE_H
#define DECODER_CASE_H

#include "check.h"
#include "numbers.h"

typedef struct {
    npagg_decoder *decoder;
    int64_t x_dim, y_dim, d, n_hidden, n_samples, outputs;
    const int64_t *widths;
    int32_t activation, likelihood;
    double floor;
    int64_t n_sets, n, p;
    int64_t *offsets;
    double *params, *x, *z; /* [P], [N,X], [B,S,D] */
    double *dpy;            /* [N,S,outputs] */
} decoder_case;

typedef struct {
    double *py;                /* [N,S,outputs] */
    double *dparams, *dx, *dz; /* [P], [N,X], [B,S,D] */
} decoder_result;

/* What is asked for; floor -1 is the default. */
typedef struct {
    int64_t x_dim, y_dim, d, n_hidden, widths[4], n_samples;
    int32_t activation, likelihood;
    double floor;
} decoder_shape;

/* Parameters from init_params, twice as large; the rest normal; all of it rounded to float. */
decoder_case *decoder_case_create(npagg_ctx *ctx, const decoder_shape *shape, int64_t n_sets,
                                  const int64_t *sizes, uint64_t seed);
void decoder_case_destroy(decoder_case *c);

/* Set b of a case as a case of its own, which borrows the decoder. */
decoder_case *decoder_case_pick(const decoder_case *c, int64_t b);
void decoder_case_end_pick(decoder_case *one);

decoder_result *decoder_run(npagg_ctx *ctx, const decoder_case *c, int precision,
                            npagg_cache *cache);
/* py only, without a cache. */
decoder_result *decoder_run_forward(npagg_ctx *ctx, const decoder_case *c, int precision);
decoder_result *decoder_run_plain(const decoder_case *c);
void decoder_result_destroy(decoder_result *r);

/* sum(dpy py) of the library in f64. */
double decoder_loss(npagg_ctx *ctx, const decoder_case *c);

#endif /* DECODER_CASE_H */
