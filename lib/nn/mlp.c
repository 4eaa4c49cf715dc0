#include "nn/mlp.h"

#include <string.h>

#include "nn/activation.h"
#include "nn/linear.h"

/* Numbers a row keeps of one activated layer. */
static int64_t kept_width(const np_mlp *mlp, int32_t layer)
{
    return mlp->width[layer + 1] * (np_activation_keeps_input(mlp->activation) ? 2 : 1);
}

static int64_t kept_before(const np_mlp *mlp, int32_t layer)
{
    int64_t count = 0;
    for (int32_t l = 0; l < layer; l++)
        count += kept_width(mlp, l);
    return count * NP_TILE_ROWS;
}

int64_t NP_REAL(np_mlp_keep_count)(const np_mlp *mlp)
{
    return kept_before(mlp, np_mlp_active(mlp));
}

void NP_REAL(np_nets_turn)(const np_nets *nets, const real *params, real *turned)
{
    for (int32_t i = 0; i < nets->n; i++) {
        const np_mlp *mlp = &nets->net[i];
        for (int32_t l = 0; l < mlp->layers; l++) {
            const int64_t w = np_mlp_weight(mlp, l), b = np_mlp_bias(mlp, l);
            NP_REAL(np_linear_turn)(mlp->width[l], mlp->width[l + 1], params + w, turned + w);
            memcpy(turned + b, params + b, (size_t)mlp->width[l + 1] * sizeof(real));
        }
    }
}

real *NP_REAL(np_mlp_kept)(const np_mlp *mlp, int32_t layer, real *keep)
{
    return keep + kept_before(mlp, layer);
}

void NP_REAL(np_mlp_activate)(const np_mlp *mlp, int32_t layer, real *keep)
{
    const int64_t count = NP_TILE_ROWS * mlp->width[layer + 1];
    real *x = NP_REAL(np_mlp_kept)(mlp, layer, keep);
    NP_REAL(np_activation_forward)(mlp->activation, count, x, x + count);
}

real *NP_REAL(np_mlp_forward)(const np_mlp *mlp, const real *turned, int32_t first, const real *in,
                              real *keep, real *out)
{
    const real *x = first == 0 ? in : NP_REAL(np_mlp_kept)(mlp, first - 1, keep);
    real *y = out;
    for (int32_t l = first; l < mlp->layers; l++) {
        const int is_active = l < np_mlp_active(mlp);
        y = is_active ? NP_REAL(np_mlp_kept)(mlp, l, keep) : out;
        NP_REAL(np_linear_forward)
        (NP_TILE_ROWS, mlp->width[l], mlp->width[l + 1], turned + np_mlp_weight(mlp, l),
         turned + np_mlp_bias(mlp, l), x, y);
        if (is_active)
            NP_REAL(np_mlp_activate)(mlp, l, keep);
        x = y;
    }
    return y;
}

/* g: from the output of a layer's activation to its input. */
static void backward_active(const np_mlp *mlp, int32_t layer, real *keep, real *g)
{
    const int64_t count = NP_TILE_ROWS * mlp->width[layer + 1];
    const real *y = NP_REAL(np_mlp_kept)(mlp, layer, keep);
    NP_REAL(np_activation_backward)(mlp->activation, count, y, y + count, g);
}

real *NP_REAL(np_mlp_backward)(const np_mlp *mlp, const real *params, int32_t first, int64_t n,
                               const real *in, real *keep, real *g, real *other, real *dparams,
                               real beta, real *din)
{
    if (mlp->ends_active)
        backward_active(mlp, mlp->layers - 1, keep, g);
    for (int32_t l = mlp->layers - 1; l >= first; l--) {
        const int64_t from = mlp->width[l], to = mlp->width[l + 1], w = np_mlp_weight(mlp, l);
        if (dparams)
            NP_REAL(np_linear_backward_params)
        (n, from, to, l > 0 ? NP_REAL(np_mlp_kept)(mlp, l - 1, keep) : in, g, dparams + w, from,
         dparams + np_mlp_bias(mlp, l));
        if (l == 0) {
            if (din)
                NP_REAL(np_linear_backward)(NP_TILE_ROWS, from, to, params + w, from, g, beta, din);
            return g;
        }
        NP_REAL(np_linear_backward)(NP_TILE_ROWS, from, to, params + w, from, g, 0, other);
        backward_active(mlp, l - 1, keep, other);
        real *swap = g;
        g = other;
        other = swap;
    }
    return g;
}
