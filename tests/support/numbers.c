#include "numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

double *zeros_of(int64_t n)
{
    double *x = calloc(n > 0 ? (size_t)n : 1, sizeof *x);
    TEST_ASSERT_NOT_NULL(x);
    return x;
}

double *normals_of(test_rng *rng, int64_t n)
{
    double *x = zeros_of(n);
    for (int64_t i = 0; i < n; i++)
        x[i] = rng_normal(rng);
    return x;
}

double *copy_of_numbers(int64_t n, const double *x)
{
    double *y = zeros_of(n);
    memcpy(y, x, (size_t)n * sizeof *x);
    return y;
}

void round_numbers(int64_t n, double *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)x[i];
}

void *native_create(int precision, int64_t n, const double *x)
{
    if (!x)
        return NULL;
    if (precision == 64)
        return copy_of_numbers(n, x);
    float *y = calloc(n > 0 ? (size_t)n : 1, sizeof *y);
    TEST_ASSERT_NOT_NULL(y);
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)x[i];
    return y;
}

void native_take(int precision, int64_t n, void *native, double *x)
{
    for (int64_t i = 0; i < n && native && x; i++)
        x[i] = precision == 32 ? (double)((float *)native)[i] : ((double *)native)[i];
    free(native);
}

int64_t *offsets_of(int64_t n_sets, const int64_t *sizes)
{
    int64_t *offsets = calloc((size_t)n_sets + 1, sizeof *offsets);
    TEST_ASSERT_NOT_NULL(offsets);
    for (int64_t b = 0; b < n_sets; b++)
        offsets[b + 1] = offsets[b] + sizes[b];
    return offsets;
}

double plain_activation(int32_t activation, double x)
{
    switch (activation) {
    case NPAGG_ACTIVATION_RELU:
        return x > 0 ? x : 0;
    case NPAGG_ACTIVATION_GELU:
        return x * 0.5 * (1 + erf(x / sqrt(2)));
    case NPAGG_ACTIVATION_TANH:
        return tanh(x);
    case NPAGG_ACTIVATION_SOFTPLUS:
        return x > 30 ? x : log1p(exp(x));
    default:
        return 1 / (1 + exp(-x));
    }
}

void plain_mlp(const double **params, int64_t layers, const int64_t *width, int32_t activation,
               int ends_active, const double *x, double *y)
{
    double *in = copy_of_numbers(width[0], x);
    for (int64_t l = 0; l < layers; l++) {
        const int64_t from = width[l], to = width[l + 1];
        const double *w = *params, *b = w + from * to;
        double *out = zeros_of(to);
        for (int64_t i = 0; i < to; i++) {
            out[i] = b[i];
            for (int64_t j = 0; j < from; j++)
                out[i] += w[i * from + j] * in[j];
            if (l + 1 < layers || ends_active)
                out[i] = plain_activation(activation, out[i]);
        }
        free(in);
        in = out;
        *params = b + to;
    }
    memcpy(y, in, (size_t)width[layers] * sizeof *y);
    free(in);
}

double difference_in(double *x, double h, number_fn f, void *user)
{
    const double old = *x;
    *x = old + h;
    const double up = f(user);
    *x = old - h;
    const double down = f(user);
    *x = old;
    return (up - down) / (2 * h);
}
