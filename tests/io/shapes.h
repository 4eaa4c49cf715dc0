/* Models of every kind that a checkpoint must bring back: each setting at each of its values. */
#ifndef SHAPES_H
#define SHAPES_H

#include <stdint.h>

#include <npagg/npagg.h>

typedef struct {
    struct {
        int64_t x, y, d;
    } size;
    struct {
        int64_t hidden[4]; /* ended by 0 */
        int32_t activation, trunk;
        double lo, hi;
        int64_t post[4], heads; /* of encoders of sets; ended by 0; 0 heads: mean */
    } encoder;
    struct {
        int32_t kind; /* 0 gaussian, 1 mixture, 2 hierarchy, 3 none: an encoder of sets */
        int32_t robust;
        int64_t k;
    } prior;
    struct {
        int32_t max_iters, grad;
        double tol;
    } vmp;
    struct {
        int64_t hidden[4];
        int32_t activation, likelihood;
        double floor;
    } decoder;
    struct {
        int32_t kind, points, normalise, sampling, kl;
        int64_t samples;
    } objective;
} shape;

enum { SHAPES = 9 };
extern const shape shapes[SHAPES];

npagg_model *shape_create(npagg_ctx *ctx, const shape *s);

/* Every setting of every stage, and every tensor. */
#define ASSERT_SAME_MODEL(want, got) check_same_model((want), (got), __LINE__)
void check_same_model(const npagg_model *want, const npagg_model *got, int line);

/* Numbers of all sizes and signs, some not finite, none beyond a float; the caller frees. */
float *draw_floats(uint64_t seed, int64_t n);
double *draw_doubles(uint64_t seed, int64_t n);

#endif /* SHAPES_H */
