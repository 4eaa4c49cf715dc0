#include "predictor.h"

#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "keyed.h"

void predictor_create(const network *net, int64_t n_sets, int64_t n_samples, predictor *out)
{
    const size_t n = (size_t)(n_sets * n_samples);
    out->n_sets = n_sets;
    out->n_samples = n_samples;
    out->d = npagg_model_size(net->model, "d");
    out->noise = take(n * (size_t)out->d, sizeof(float));
    out->uniform = take(n, sizeof(float));
    out->which = take(n, sizeof(int32_t));
    out->q = take((size_t)(n_sets * npagg_model_size(net->model, "q")), sizeof(float));
}

void predictor_destroy(predictor *p)
{
    free(p->noise);
    free(p->uniform);
    free(p->which);
    free(p->q);
    memset(p, 0, sizeof *p);
}

/* which [B,S], by the mixing weights of q(z | context). */
static npagg_status choose_components(npagg_ctx *ctx, predictor *p, const network *net,
                                      const float *params, uint64_t seed, uint64_t index,
                                      const question *in)
{
    npagg_status status = npagg_model_infer_f32(ctx, net->model, params, in->n_sets,
                                                in->ctx_offsets, in->xc, in->yc, p->q);
    if (status)
        return status;
    npagg_uniform_fill_f32(key_seed(seed, KEY_TEST_CHOICE), index, in->n_sets * p->n_samples,
                           p->uniform);
    return npagg_model_choose_f32(ctx, net->model, in->n_sets, p->n_samples, p->q, p->uniform,
                                  p->which);
}

npagg_status predictor_run(npagg_ctx *ctx, predictor *p, const network *net, const float *params,
                           uint64_t seed, uint64_t index, const question *in, const answer *out)
{
    const int mixture = npagg_model_size(net->model, "k") > 1;
    key_normal_f32(seed, KEY_TEST_LATENT, index, in->n_sets * p->n_samples * p->d, p->noise);
    if (mixture) {
        npagg_status status = choose_components(ctx, p, net, params, seed, index, in);
        if (status)
            return status;
    }
    return npagg_model_predict_f32(ctx, net->model, params, in->n_sets, in->ctx_offsets, in->xc,
                                   in->yc, in->tgt_offsets, in->xt, in->yt, p->n_samples, p->noise,
                                   mixture ? p->which : NULL, out->mean, out->sd, out->samples,
                                   out->loglik, out->weight);
}
