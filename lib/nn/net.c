#include "nn/net.h"

#include <stdio.h>
#include <string.h>

#include "base/size.h"

#define ALIGNED 16 /* numbers: a line of floats, two of doubles */

static int64_t round_up(int64_t at, int64_t align)
{
    return align > 0 ? (at + align - 1) / align * align : at;
}

static int64_t count_params(const np_mlp *mlp)
{
    return np_mlp_weight(mlp, mlp->layers) - mlp->offset;
}

void np_nets_add(np_nets *nets, const char *name, int64_t in, int64_t n_hidden,
                 const int64_t *widths, int64_t out, int32_t activation)
{
    np_mlp *mlp = &nets->net[nets->n];
    *mlp = (np_mlp){.layers = (int32_t)n_hidden + 1, .activation = activation};
    mlp->offset = nets->params;
    mlp->width[0] = in;
    for (int64_t l = 0; l < n_hidden; l++)
        mlp->width[l + 1] = widths[l];
    mlp->width[n_hidden + 1] = out;
    nets->name[nets->n++] = name;
    nets->params += count_params(mlp);
}

void np_nets_add_one(np_nets *nets, const char *name, np_net_kind kind, int64_t in, int64_t out)
{
    np_mlp *mlp = &nets->net[nets->n];
    *mlp = (np_mlp){.kind = kind, .layers = 1, .offset = nets->params};
    mlp->width[0] = kind == NP_NET_NORM ? 1 : in;
    mlp->width[1] = out;
    nets->name[nets->n++] = name;
    nets->params += count_params(mlp);
}

void np_nets_cut(np_nets *nets)
{
    np_mlp *mlp = &nets->net[nets->n - 1];
    nets->params = np_mlp_weight(mlp, --mlp->layers);
    mlp->ends_active = 1;
}

void np_nets_activate(np_nets *nets)
{
    nets->net[nets->n - 1].ends_active = 1;
}

np_nets np_nets_align(const np_nets *nets)
{
    np_nets aligned = *nets;
    aligned.params = 0;
    for (int32_t n = 0; n < nets->n; n++) {
        aligned.net[n].align = ALIGNED;
        aligned.net[n].offset = aligned.params;
        aligned.params = np_mlp_weight(&aligned.net[n], nets->net[n].layers);
    }
    return aligned;
}

static int32_t count_tensors(const np_mlp *mlp)
{
    return mlp->kind == NP_NET_MATRIX ? 1 : 2 * mlp->layers;
}

static void print_name(const np_mlp *mlp, const char *name, int32_t l, int is_bias, np_tensor *out)
{
    const char *what = is_bias ? "bias" : mlp->kind == NP_NET_NORM ? "gain" : "weight";
    if (mlp->kind == NP_NET_LAYERS)
        snprintf(out->name, sizeof out->name, "%s.%d.%s", name, (int)l, what);
    else
        snprintf(out->name, sizeof out->name, "%s.%s", name, what);
}

static void find_tensor(const np_mlp *mlp, const char *name, int64_t i, np_tensor *out)
{
    const int32_t l = (int32_t)(i / 2);
    const int is_bias = (int)(i % 2);
    print_name(mlp, name, l, is_bias, out);
    out->offset = is_bias ? np_mlp_bias(mlp, l) : np_mlp_weight(mlp, l);
    out->rows = mlp->width[l + 1];
    out->columns = is_bias || mlp->kind == NP_NET_NORM ? 0 : mlp->width[l];
}

int np_nets_tensor(const np_nets *nets, int64_t i, np_tensor *out)
{
    for (int32_t n = 0; n < nets->n && i >= 0; n++) {
        const np_mlp *mlp = &nets->net[n];
        if (i < count_tensors(mlp)) {
            find_tensor(mlp, nets->name[n], i, out);
            return 1;
        }
        i -= count_tensors(mlp);
    }
    return 0;
}

int64_t np_nets_offset(const np_nets *nets, const char *field)
{
    np_tensor tensor;
    for (int64_t i = 0; np_nets_tensor(nets, i, &tensor); i++)
        if (strcmp(tensor.name, field) == 0)
            return tensor.offset;
    return -1;
}

int np_widths_fit(int64_t n_copies, int64_t in, int64_t n_hidden, const int64_t *widths,
                  int64_t out)
{
    int64_t total = 0, layer, bytes;
    for (int64_t l = 0; l <= n_hidden; l++) {
        const int64_t to = l < n_hidden ? widths[l] : out;
        if (!np_size_add(in, 1, &layer) || !np_size_mul(layer, to, &layer) ||
            !np_size_add(total, layer, &total))
            return 0;
        in = to;
    }
    return np_size_mul(total, n_copies, &total) &&
           np_size_mul(total, 1024 * (int64_t)sizeof(double), &bytes);
}

int64_t np_mlp_weight(const np_mlp *mlp, int32_t layer)
{
    int64_t at = mlp->offset;
    for (int32_t l = 0; l < layer; l++) {
        at = round_up(at + mlp->width[l] * mlp->width[l + 1], mlp->align);
        at = round_up(at + np_mlp_bias_count(mlp, l), mlp->align);
    }
    return at;
}

int64_t np_mlp_bias(const np_mlp *mlp, int32_t layer)
{
    const int64_t weights = mlp->width[layer] * mlp->width[layer + 1];
    return round_up(np_mlp_weight(mlp, layer) + weights, mlp->align);
}

int64_t np_mlp_bias_count(const np_mlp *mlp, int32_t layer)
{
    return mlp->kind == NP_NET_MATRIX ? 0 : mlp->width[layer + 1];
}

int64_t np_mlp_widest(const np_mlp *mlp)
{
    int64_t widest = 0;
    for (int32_t l = 0; l < mlp->layers; l++)
        widest = np_max(widest, mlp->width[l + 1]);
    return widest;
}

int32_t np_mlp_active(const np_mlp *mlp)
{
    return mlp->layers - !mlp->ends_active;
}

int np_activation_is_known(int32_t activation)
{
    return activation >= NPAGG_ACTIVATION_RELU && activation <= NPAGG_ACTIVATION_SIGMOID;
}

int np_activation_keeps_input(int32_t activation)
{
    return activation == NPAGG_ACTIVATION_GELU;
}
