#include "nn/mlp.h"

#include <string.h>

#include "base/parallel.h"
#include "base/size.h"
#include "nn/activation.h"

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

typedef struct layout_job {
    const np_nets *given, *nets;
    const real *params;
    real *turned, *straight;
} layout_job;

/* Layer l of network item % n. */
static void lay_out_layer(void *arg, int64_t item, int32_t worker)
{
    const layout_job *job = arg;
    const int32_t net = (int32_t)(item % job->nets->n), l = (int32_t)(item / job->nets->n);
    const np_mlp *from = &job->given->net[net], *to = &job->nets->net[net];
    const int64_t in = to->width[l], out = to->width[l + 1];
    const real *w = job->params + np_mlp_weight(from, l), *b = job->params + np_mlp_bias(from, l);
    (void)worker;
    if (l >= to->layers)
        return;
    if (job->turned) {
        NP_REAL(np_linear_turn)(in, out, w, job->turned + np_mlp_weight(to, l));
        memcpy(job->turned + np_mlp_bias(to, l), b,
               (size_t)np_mlp_bias_count(to, l) * sizeof(real));
    }
    if (job->straight)
        memcpy(job->straight + np_mlp_weight(to, l), w, (size_t)(in * out) * sizeof(real));
}

void NP_REAL(np_nets_lay_out)(npagg_ctx *ctx, const np_nets *given, const real *params,
                              const np_nets *nets, real *turned, real *straight)
{
    layout_job job = {given, nets, params, turned, straight};
    int32_t layers = 0;
    for (int32_t i = 0; i < nets->n; i++)
        layers = nets->net[i].layers > layers ? nets->net[i].layers : layers;
    np_parallel(ctx, (int64_t)layers * nets->n, lay_out_layer, &job);
}

real *NP_REAL(np_mlp_kept)(const np_mlp *mlp, int32_t layer, real *keep)
{
    return keep + kept_before(mlp, layer);
}

static int is_relu(const np_mlp *mlp)
{
    return mlp->activation == NPAGG_ACTIVATION_RELU;
}

void NP_REAL(np_mlp_activate)(const np_mlp *mlp, int32_t layer, int64_t n, real *keep)
{
    const int64_t width = mlp->width[layer + 1];
    real *x = NP_REAL(np_mlp_kept)(mlp, layer, keep);
    NP_REAL(np_activation_forward)(mlp->activation, n * width, x, x + NP_TILE_ROWS * width);
}

/* Where the bias of a layer is in an array of parameters; NULL if it has none. */
static const real *find_bias(const np_mlp *mlp, int32_t l, const real *params)
{
    return np_mlp_bias_count(mlp, l) > 0 ? params + np_mlp_bias(mlp, l) : NULL;
}

real *NP_REAL(np_mlp_forward)(const np_linear *linear, const np_mlp *mlp, const real *turned,
                              int32_t first, int64_t n, const real *in, real *keep, real *out)
{
    const real *x = first == 0 ? in : NP_REAL(np_mlp_kept)(mlp, first - 1, keep);
    real *y = out;
    for (int32_t l = first; l < mlp->layers; l++) {
        const int is_active = l < np_mlp_active(mlp);
        y = is_active ? NP_REAL(np_mlp_kept)(mlp, l, keep) : out;
        linear->forward(n, mlp->width[l], mlp->width[l + 1], turned + np_mlp_weight(mlp, l),
                        find_bias(mlp, l, turned), is_active && is_relu(mlp), x, y);
        if (is_active && !is_relu(mlp))
            NP_REAL(np_mlp_activate)(mlp, l, n, keep);
        x = y;
    }
    return y;
}

/* g: from the output of a layer's activation to its input. */
static void backward_active(const np_mlp *mlp, int32_t layer, int64_t n, real *keep, real *g)
{
    const int64_t width = mlp->width[layer + 1];
    const real *y = NP_REAL(np_mlp_kept)(mlp, layer, keep);
    NP_REAL(np_activation_backward)(mlp->activation, n * width, y, y + NP_TILE_ROWS * width, g);
}

/* other = the gradient of what entered the activation before layer l, from g, that of its output.
 */
static void backward_layer(const np_linear *linear, const np_mlp *mlp, const real *params,
                           int32_t l, int64_t n, real *keep, const real *g, real *other)
{
    const real *relu = is_relu(mlp) ? NP_REAL(np_mlp_kept)(mlp, l - 1, keep) : NULL;
    linear->backward(n, mlp->width[l], mlp->width[l + 1], params + np_mlp_weight(mlp, l),
                     mlp->width[l], g, 0, relu, other);
    if (!relu)
        backward_active(mlp, l - 1, n, keep, other);
}

real *NP_REAL(np_mlp_backward)(const np_linear *linear, const np_mlp *mlp, const real *params,
                               int32_t first, int64_t n, int64_t counted, const real *in,
                               real *keep, real *g, real *other, real *dparams, real beta,
                               real *din)
{
    if (mlp->ends_active)
        backward_active(mlp, mlp->layers - 1, n, keep, g);
    for (int32_t l = mlp->layers - 1; l >= first; l--) {
        const int64_t from = mlp->width[l], to = mlp->width[l + 1], w = np_mlp_weight(mlp, l);
        const real *x = l > 0 ? NP_REAL(np_mlp_kept)(mlp, l - 1, keep) : in;
        if (dparams)
            linear->backward_params(counted, from, to, x, g, dparams + w, from,
                                    (real *)find_bias(mlp, l, dparams));
        if (l == 0) {
            if (din)
                linear->backward(n, from, to, params + w, from, g, beta, NULL, din);
            return g;
        }
        backward_layer(linear, mlp, params, l, n, keep, g, other);
        real *swap = g;
        g = other;
        other = swap;
    }
    return g;
}
