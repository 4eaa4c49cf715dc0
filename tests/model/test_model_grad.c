/*
 * Gradients of whole models against central differences of their losses: each coordinate of tiny
 * models, directions of larger ones. The component of each sample is an argument: with it fixed,
 * the chosen samples' loss is a smooth function and its gradient exact.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "model_call.h"
#include "numbers.h"

static npagg_ctx *ctx;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

typedef struct {
    npagg_ctx *ctx;
    const model_call *call;
} subject;

static double value_of(void *user)
{
    const subject *s = user;
    return model_value(s->ctx, s->call);
}

static void check_each(npagg_ctx *c, const model_call *f, double tol)
{
    subject s = {c, f};
    /* norms of a few numbers that are nearly the same bend too sharply for a step of 1e-5 */
    const double h = f->spec.prior->kind == OF_ATTENTION ? 2e-6 : 1e-5;
    double *params = f->params, *want = zeros_of(f->p);
    model_run_once(c, f);
    double *got = copy_of_numbers(f->p, f->dparams);
    for (int64_t i = 0; i < f->p; i++)
        want[i] = difference_in(params + i, h, value_of, &s);
    check_all_close(f->p, want, got, tol, 1e-9, model_describe(f, "dparams"), __LINE__);
    free(want);
    free(got);
}

static void check_ragged(npagg_ctx *c, const model_spec *spec)
{
    model_call *f = model_call_ragged(c, spec, 64, 5);
    check_each(c, f, 1e-8);
    model_call_destroy(f);
}

static void test_gaussian_model_gradient_is_that_of_its_loss(void)
{
    for_each_spec(ctx, &flavours[0], check_ragged);
}

static void test_robust_gaussian_model_gradient_is_that_of_its_loss(void)
{
    for_each_spec(ctx, &flavours[1], check_ragged);
}

static void test_mixture_model_gradient_is_that_of_its_loss(void)
{
    for_each_spec(ctx, &flavours[2], check_ragged);
}

static void test_robust_mixture_model_gradient_is_that_of_its_loss(void)
{
    for_each_spec(ctx, &flavours[3], check_ragged);
}

static void test_hierarchy_model_gradient_is_that_of_its_loss(void)
{
    for_each_spec(ctx, &flavours[4], check_ragged);
}

static void test_student_model_gradient_is_that_of_its_loss(void)
{
    for_each_spec(ctx, &flavours[5], check_ragged);
}

static void test_mean_encoder_model_gradient_is_that_of_its_loss(void)
{
    for_each_spec(ctx, &flavours[6], check_ragged);
}

static void test_attention_encoder_model_gradient_is_that_of_its_loss(void)
{
    for_each_spec(ctx, &flavours[7], check_ragged);
}

static void check_networks(int trunk, int bernoulli, int64_t x_dim, int64_t y_dim)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for (int32_t objective = 0; objective < 4; objective++) {
            model_spec spec = spec_of(&flavours[i], objective);
            if (objective == NPAGG_OBJECTIVE_ELBO_CLOSED && i != 0 && i != 2)
                continue;
            spec.trunk = trunk;
            spec.bernoulli = bernoulli;
            spec.x_dim = x_dim;
            spec.y_dim = y_dim;
            check_ragged(ctx, &spec);
        }
}

static void test_trunk_encoder_model_gradient_is_that_of_its_loss(void)
{
    check_networks(1, 0, 1, 1);
}

static void test_bernoulli_model_gradient_is_that_of_its_loss(void)
{
    check_networks(0, 1, 1, 1);
}

static void test_model_of_several_dimensions_has_the_gradient_of_its_loss(void)
{
    check_networks(1, 0, 2, 3);
    check_networks(0, 1, 3, 2);
}

static void test_model_without_places_has_the_gradient_of_its_loss(void)
{
    check_networks(0, 0, -1, 2);
}

static void check_sets(int64_t n_sets, const int64_t *sizes, const int64_t *n_ctx)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for (int32_t objective = 0; objective < 4; objective++)
            for (int32_t points = 0; points < 2; points++) {
                model_spec spec = spec_of(&flavours[i], objective);
                spec.points = points;
                if (objective == NPAGG_OBJECTIVE_ELBO_CLOSED && i != 0 && i != 2)
                    continue;
                model_call *f = model_call_create(ctx, &spec, 64, 9, n_sets, sizes, n_ctx);
                check_each(ctx, f, 1e-8);
                model_call_destroy(f);
            }
}

static void test_tasks_without_context_have_the_gradient_of_their_loss(void)
{
    check_sets(2, (const int64_t[]){3, 1}, (const int64_t[]){0, 0});
}

static void test_tasks_without_targets_have_the_gradient_of_their_loss(void)
{
    check_sets(2, (const int64_t[]){3, 1}, (const int64_t[]){3, 1});
}

static void test_empty_tasks_have_the_gradient_of_their_loss(void)
{
    check_sets(2, (const int64_t[]){0, 0}, (const int64_t[]){0, 0});
}

/* Along a random direction of all parameters. */
static void check_direction(npagg_ctx *c, const model_call *f, uint64_t seed, double tol)
{
    const double h = 1e-5;
    test_rng rng = {seed};
    double *params = f->params, *u = normals_of(&rng, f->p);
    double *start = copy_of_numbers(f->p, params), want = 0, got = 0, scale = 0;
    model_run_once(c, f);
    const double *grad = f->dparams;
    for (int64_t i = 0; i < f->p; i++) {
        got += u[i] * grad[i];
        scale += u[i] * u[i] * grad[i] * grad[i];
    }
    for (int side = 1; side >= -1; side -= 2) {
        for (int64_t i = 0; i < f->p; i++)
            params[i] = start[i] + side * h * u[i];
        want += side * model_value(c, f) / (2 * h);
    }
    memcpy(params, start, (size_t)f->p * sizeof *params);
    check_close(want, got, 0, tol * sqrt(scale), model_describe(f, "direction"), __LINE__);
    free(u);
    free(start);
}

static void check_moderate(npagg_ctx *c, const model_spec *spec)
{
    const int64_t sizes[] = {37, 0, 12, 5}, n_ctx[] = {20, 0, 12, 0};
    model_spec large = *spec;
    large.d = 9;
    large.samples = 7;
    large.width = 20;
    large.sweeps = 5;
    model_call *f = model_call_create(c, &large, 64, 21, 4, sizes, n_ctx);
    for (uint64_t seed = 1; seed <= 2; seed++)
        check_direction(c, f, seed, 1e-6);
    model_call_destroy(f);
}

static void test_moderate_models_have_the_gradient_of_their_loss_along_directions(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for_each_spec(ctx, &flavours[i], check_moderate);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_gaussian_model_gradient_is_that_of_its_loss);
    RUN_TEST(test_robust_gaussian_model_gradient_is_that_of_its_loss);
    RUN_TEST(test_mixture_model_gradient_is_that_of_its_loss);
    RUN_TEST(test_robust_mixture_model_gradient_is_that_of_its_loss);
    RUN_TEST(test_hierarchy_model_gradient_is_that_of_its_loss);
    RUN_TEST(test_student_model_gradient_is_that_of_its_loss);
    RUN_TEST(test_mean_encoder_model_gradient_is_that_of_its_loss);
    RUN_TEST(test_attention_encoder_model_gradient_is_that_of_its_loss);
    RUN_TEST(test_trunk_encoder_model_gradient_is_that_of_its_loss);
    RUN_TEST(test_bernoulli_model_gradient_is_that_of_its_loss);
    RUN_TEST(test_model_of_several_dimensions_has_the_gradient_of_its_loss);
    RUN_TEST(test_model_without_places_has_the_gradient_of_its_loss);
    RUN_TEST(test_tasks_without_context_have_the_gradient_of_their_loss);
    RUN_TEST(test_tasks_without_targets_have_the_gradient_of_their_loss);
    RUN_TEST(test_empty_tasks_have_the_gradient_of_their_loss);
    RUN_TEST(test_moderate_models_have_the_gradient_of_their_loss_along_directions);
    return UNITY_END();
}
