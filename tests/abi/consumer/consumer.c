/* A program outside the tree, valid C and C++: one point N(2, 1) under N(0, 1) is N(1, 1/2). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <npagg/npagg.h>

static int posterior_is_right(npagg_ctx *ctx, const npagg_prior *prior)
{
    const int64_t offsets[2] = {0, 1};
    const float m[1] = {2}, v[1] = {1};
    float params[2], q[2];

    if (npagg_prior_init_params_f32(ctx, prior, 0, params) ||
        npagg_infer_forward_f32(ctx, prior, NULL, params, 1, offsets, m, v, NULL, q, NULL, NULL))
        return 0;
    return fabsf(q[npagg_prior_posterior_offset(prior, "mean")] - 1.0f) < 1e-6f &&
           fabsf(q[npagg_prior_posterior_offset(prior, "var")] - 0.5f) < 1e-6f;
}

int main(void)
{
    npagg_ctx *ctx = NULL;
    npagg_prior *prior = NULL;
    npagg_model *model = NULL;
    char compiled[32];
    int ok;

    snprintf(compiled, sizeof compiled, "%d.%d.%d", NPAGG_VERSION_MAJOR, NPAGG_VERSION_MINOR,
             NPAGG_VERSION_PATCH);
    ok = strcmp(compiled, npagg_version()) == 0 && npagg_ctx_create(&ctx) == NPAGG_OK &&
         npagg_prior_create_gaussian(ctx, 1, &prior) == NPAGG_OK &&
         posterior_is_right(ctx, prior) &&
         npagg_model_load(ctx, "no/such/file", &model) == NPAGG_E_IO;
    npagg_prior_destroy(prior);
    npagg_ctx_destroy(ctx);
    puts(ok ? "ok" : "wrong");
    return !ok;
}
