#include "golden_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static npagg_prior *create_prior(npagg_ctx *ctx, const golden *g, const char *kind)
{
    npagg_prior *prior = NULL;
    const int64_t d = (int64_t)golden_scalar(g, "D");
    if (strcmp(kind, "mba") == 0)
        ASSERT_OK(ctx, npagg_prior_create_mixture(ctx, d, (int64_t)golden_scalar(g, "K"), &prior));
    else if (strcmp(kind, "rba") == 0)
        ASSERT_OK(ctx, npagg_prior_create_student(ctx, d, &prior));
    else if (strcmp(kind, "ba") == 0)
        ASSERT_OK(ctx, npagg_prior_create_gaussian(ctx, d, &prior));
    TEST_ASSERT_NOT_NULL_MESSAGE(prior, "the file's name says model_ or train_ and ba, mba or rba");
    return prior;
}

static npagg_objective *create_objective(npagg_ctx *ctx, const golden *g, golden_loss loss)
{
    npagg_objective *o = NULL;
    const int32_t kind = loss == GOLDEN_IWAE_ALL ? NPAGG_OBJECTIVE_IWAE : NPAGG_OBJECTIVE_ELBO;
    ASSERT_OK(ctx, npagg_objective_create(ctx, kind, &o));
    ASSERT_OK(ctx, npagg_objective_set_samples(o, (int64_t)golden_scalar(g, "S")));
    ASSERT_OK(ctx, npagg_objective_set_sampling(o, NPAGG_SAMPLE_CHOSEN));
    return o;
}

npagg_model *golden_model_create(npagg_ctx *ctx, const golden *g, const char *kind,
                                 golden_loss loss)
{
    const int64_t d = (int64_t)golden_scalar(g, "D"), depth = (int64_t)golden_scalar(g, "depth");
    int64_t widths[9];
    TEST_ASSERT_TRUE_MESSAGE(depth >= 1 && depth <= 10, "layers have one digit");
    npagg_encoder *encoder = NULL;
    npagg_decoder *decoder = NULL;
    npagg_vmp *vmp = NULL;
    npagg_model *model = NULL;
    npagg_prior *prior = create_prior(ctx, g, kind);
    npagg_objective *objective = create_objective(ctx, g, loss);
    for (int64_t i = 0; i < depth - 1; i++)
        widths[i] = (int64_t)golden_scalar(g, "hid");
    if (strcmp(kind, "mba") == 0)
        ASSERT_OK(ctx, npagg_objective_set_kl(objective, NPAGG_KL_SAMPLED));
    ASSERT_OK(ctx, npagg_encoder_create_mlp(ctx, 1, 1, d, depth - 1, widths, &encoder));
    ASSERT_OK(ctx, npagg_decoder_create_mlp(ctx, 1, 1, d, depth - 1, widths, &decoder));
    ASSERT_OK(ctx, npagg_vmp_create(ctx, &vmp));
    ASSERT_OK(ctx, npagg_vmp_set_max_iters(vmp, (int32_t)golden_scalar(g, "steps")));
    ASSERT_OK(ctx, npagg_model_create(ctx, encoder, prior, vmp, decoder, objective, &model));
    npagg_vmp_destroy(vmp);
    npagg_decoder_destroy(decoder);
    npagg_encoder_destroy(encoder);
    npagg_objective_destroy(objective);
    npagg_prior_destroy(prior);
    return model;
}

/* "encoder.mean.2.weight" -> "enc_m_W2"; "prior.logvar" -> "S0" or "S_k", whichever the file has.
 */
static const double *find_tensor(const golden *g, const char *prefix, const char *name,
                                 int64_t *count)
{
    static const char *const names[][2] = {
        {"prior.mean", "mu0"},      {"prior.mean", "mu_k"},       {"prior.logvar", "S0"},
        {"prior.logvar", "S_k"},    {"prior.logits", "logit_pi"}, {"prior.log_a0", "a0"},
        {"prior.log_b0", "b0"},     {"prior.log_c0", "c0"},       {"encoder.mean.", "enc_m_"},
        {"encoder.var.", "enc_v_"}, {"decoder.mean.", "dec_mu_"}, {"decoder.sd.", "dec_sig_"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char full[128];
        const size_t n = strlen(names[i][0]);
        if (strncmp(name, names[i][0], n) != 0)
            continue;
        if (name[n])
            snprintf(full, sizeof full, "%s%s%c%c", prefix, names[i][1],
                     strstr(name, "weight") ? 'W' : 'b', name[n]);
        else
            snprintf(full, sizeof full, "%s%s", prefix, names[i][1]);
        const double *found = golden_find(g, full, count);
        if (found)
            return found;
    }
    return NULL;
}

static int is_log(const char *name)
{
    return strstr(name, "prior.log") && !strstr(name, "logits");
}

void golden_model_each(const npagg_model *model, const golden *g, const char *prefix, int gradient,
                       const double *params, golden_tensor_fn check, void *arg)
{
    for (int64_t i = 0; i < npagg_model_tensor_count(model); i++) {
        int64_t offset, rows, columns, count;
        const char *name = npagg_model_tensor_name(model, i);
        TEST_ASSERT_EQUAL(NPAGG_OK, npagg_model_tensor_shape(model, i, &offset, &rows, &columns));
        const double *found = find_tensor(g, prefix, name, &count);
        if (!found)
            continue;
        TEST_ASSERT_EQUAL_INT64(rows * (columns ? columns : 1), count);
        double *want = malloc((size_t)count * sizeof *want);
        TEST_ASSERT_NOT_NULL(want);
        for (int64_t j = 0; j < count; j++)
            want[j] = !is_log(name) ? found[j]
                      : gradient    ? found[j] * exp(params[offset + j])
                                    : log(found[j]);
        check(name, count, want, offset, arg);
        free(want);
    }
}

static void copy_tensor(const char *name, int64_t n, const double *want, int64_t offset, void *arg)
{
    (void)name;
    memcpy((double *)arg + offset, want, (size_t)n * sizeof *want);
}

void golden_model_params(npagg_ctx *ctx, const npagg_model *model, const golden *g,
                         const char *prefix, double *params)
{
    ASSERT_OK(ctx, npagg_model_init_params_f64(ctx, model, 0, params));
    golden_model_each(model, g, prefix, 0, params, copy_tensor, params);
}
