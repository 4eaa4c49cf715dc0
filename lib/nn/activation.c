#include "nn/activation.h"

#include <string.h>

#include "nn/net.h"
#include "nn/scalar.h"

static void relu_forward(int64_t n, real *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = x[i] < 0 ? 0 : x[i];
}

static void relu_backward(int64_t n, const real *y, real *g)
{
    for (int64_t i = 0; i < n; i++)
        g[i] = y[i] > 0 ? g[i] : 0;
}

/* y = x Phi(x); Phi by erfc, which keeps its digits where Phi is small. */
static void gelu_forward(int64_t n, real *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i] *= (real)0.5 * np_erfc(x[i] * (real)-0.70710678118654752440);
}

/* dy/dx = Phi(x) + x phi(x). */
static void gelu_backward(int64_t n, const real *x, real *g)
{
    for (int64_t i = 0; i < n; i++) {
        const real cdf = (real)0.5 * np_erfc(x[i] * (real)-0.70710678118654752440);
        const real pdf = (real)0.39894228040143267794 * np_exp((real)-0.5 * x[i] * x[i]);
        g[i] *= cdf + x[i] * pdf;
    }
}

static void tanh_forward(int64_t n, real *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = np_tanh(x[i]);
}

static void tanh_backward(int64_t n, const real *y, real *g)
{
    for (int64_t i = 0; i < n; i++)
        g[i] *= (1 - y[i]) * (1 + y[i]);
}

static void softplus_forward(int64_t n, real *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = np_softplus(x[i]);
}

/* dy/dx = sigmoid(x) = 1 - exp(-y). */
static void softplus_backward(int64_t n, const real *y, real *g)
{
    for (int64_t i = 0; i < n; i++)
        g[i] *= -np_expm1(-y[i]);
}

static void sigmoid_forward(int64_t n, real *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = np_sigmoid(x[i]);
}

static void sigmoid_backward(int64_t n, const real *y, real *g)
{
    for (int64_t i = 0; i < n; i++)
        g[i] *= y[i] * (1 - y[i]);
}

/* Indexed by NPAGG_ACTIVATION_*. backward gets y, or x where that is kept. */
static const struct {
    void (*forward)(int64_t n, real *x);
    void (*backward)(int64_t n, const real *kept, real *g);
} activations[] = {
    {relu_forward, relu_backward},       {gelu_forward, gelu_backward},
    {tanh_forward, tanh_backward},       {softplus_forward, softplus_backward},
    {sigmoid_forward, sigmoid_backward},
};

void NP_REAL(np_activation_forward)(int32_t activation, int64_t n, real *x, real *pre)
{
    if (np_activation_keeps_input(activation))
        memcpy(pre, x, (size_t)n * sizeof(real));
    activations[activation].forward(n, x);
}

void NP_REAL(np_activation_backward)(int32_t activation, int64_t n, const real *y, const real *pre,
                                     real *g)
{
    activations[activation].backward(n, np_activation_keeps_input(activation) ? pre : y, g);
}
