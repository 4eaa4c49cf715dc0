/* A model is its stages, one after the other: losses and gradients in every mode. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "model_call.h"
#include "numbers.h"
#include "road.h"

static npagg_ctx *ctx;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

static void compare(npagg_ctx *c, const model_spec *spec)
{
    model_call *f = model_call_ragged(c, spec, 64, 31);
    double *loss = zeros_of(f->n_sets), *grad = zeros_of(f->p);
    road_run(c, f, loss, grad);
    model_run_once(c, f);
    check_all_close(f->n_sets, loss, f->loss, 1e-12, 1e-12, model_describe(f, "loss"), __LINE__);
    check_all_close(f->p, grad, f->dparams, 1e-12, 1e-12, model_describe(f, "dparams"), __LINE__);
    free(loss);
    free(grad);
    model_call_destroy(f);
}

static void test_model_is_its_stages(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for_each_spec(ctx, &flavours[i], compare);
}

static void compare_mode(npagg_ctx *c, const model_spec *spec, int32_t grad, int32_t sweeps)
{
    model_spec other = *spec;
    other.grad = grad;
    other.sweeps = sweeps;
    compare(c, &other);
}

static void compare_last_step(npagg_ctx *c, const model_spec *spec)
{
    compare_mode(c, spec, NPAGG_GRAD_LAST_STEP, 4);
}

static void compare_implicit(npagg_ctx *c, const model_spec *spec)
{
    compare_mode(c, spec, NPAGG_GRAD_IMPLICIT, 30);
}

static void compare_pathwise(npagg_ctx *c, const model_spec *spec)
{
    model_spec other = *spec;
    other.sampling = NPAGG_SAMPLE_PATHWISE;
    compare(c, &other);
}

static void test_last_step_model_is_its_last_step_stages(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for_each_spec(ctx, &flavours[i], compare_last_step);
}

static void test_implicit_model_is_its_implicit_stages(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for_each_spec(ctx, &flavours[i], compare_implicit);
}

static void test_pathwise_model_is_its_pathwise_stages(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for_each_spec(ctx, &flavours[i], compare_pathwise);
}

/* Largest difference of the gradients of two modes, relative to the largest entry. */
static double mode_difference(int32_t a, int32_t b, int32_t sweeps)
{
    model_spec spec = spec_of(&flavours[5], NPAGG_OBJECTIVE_ELBO);
    double largest = 0, size = 0;
    spec.sweeps = sweeps;
    spec.grad = a;
    model_call *f = model_call_ragged(ctx, &spec, 64, 33);
    spec.grad = b;
    model_call *g = model_call_ragged(ctx, &spec, 64, 33);
    model_run_once(ctx, f);
    model_run_once(ctx, g);
    for (int64_t i = 0; i < f->p; i++) {
        const double x = model_get(f, f->dparams, i), y = model_get(g, g->dparams, i);
        largest = fmax(largest, fabs(x - y));
        size = fmax(size, fabs(x));
    }
    model_call_destroy(f);
    model_call_destroy(g);
    return largest / size;
}

static void test_implicit_model_gradient_is_the_unrolled_one_at_convergence(void)
{
    const double far = mode_difference(NPAGG_GRAD_UNROLL, NPAGG_GRAD_IMPLICIT, 200);
    ASSERT_CLOSE(0, far, 0, 1e-8);
}

static void test_last_step_model_gradient_is_another_one(void)
{
    TEST_ASSERT_TRUE(mode_difference(NPAGG_GRAD_UNROLL, NPAGG_GRAD_LAST_STEP, 6) > 1e-3);
}

static void test_pathwise_loss_has_the_bits_of_chosen(void)
{
    model_spec spec = spec_of(&flavours[2], NPAGG_OBJECTIVE_IWAE);
    spec.sampling = NPAGG_SAMPLE_CHOSEN;
    model_call *a = model_call_ragged(ctx, &spec, 64, 35);
    spec.sampling = NPAGG_SAMPLE_PATHWISE;
    model_call *b = model_call_ragged(ctx, &spec, 64, 35);
    model_run_once(ctx, a);
    model_run_once(ctx, b);
    ASSERT_SAME_BITS(a->n_sets * 8, a->loss, b->loss);
    model_call_destroy(a);
    model_call_destroy(b);
}

/* One component: all three ways of sampling are the same. */
static void test_one_component_has_one_way_of_sampling(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++) {
        model_spec spec = spec_of(&flavours[i], NPAGG_OBJECTIVE_IWAE);
        if (spec.prior->k > 1)
            continue;
        model_call *a = model_call_ragged(ctx, &spec, 64, 37);
        model_run_once(ctx, a);
        for (spec.sampling = 1; spec.sampling < 3; spec.sampling++) {
            model_call *b = model_call_ragged(ctx, &spec, 64, 37);
            model_run_once(ctx, b);
            check_all_close(a->n_sets, a->loss, b->loss, 1e-13, 0, "loss", __LINE__);
            check_all_close(a->p, a->dparams, b->dparams, 1e-12, 0, "dparams", __LINE__);
            model_call_destroy(b);
        }
        model_call_destroy(a);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_model_is_its_stages);
    RUN_TEST(test_last_step_model_is_its_last_step_stages);
    RUN_TEST(test_implicit_model_is_its_implicit_stages);
    RUN_TEST(test_pathwise_model_is_its_pathwise_stages);
    RUN_TEST(test_implicit_model_gradient_is_the_unrolled_one_at_convergence);
    RUN_TEST(test_last_step_model_gradient_is_another_one);
    RUN_TEST(test_pathwise_loss_has_the_bits_of_chosen);
    RUN_TEST(test_one_component_has_one_way_of_sampling);
    return UNITY_END();
}
