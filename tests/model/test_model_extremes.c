/* Models far out: losses stay finite, and gradients where the precision can hold them. */
#include <math.h>

#include "check.h"
#include "model_call.h"
#include "prediction.h"

static npagg_ctx *ctx;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

static void check_sane(const model_call *f, int float_holds_gradient)
{
    model_run_step(ctx, f);
    for (int64_t b = 0; b < f->n_sets; b++)
        TEST_ASSERT_TRUE_MESSAGE(isfinite(model_get(f, f->loss, b)), model_describe(f, "loss"));
    for (int64_t i = 0; i < f->p && (float_holds_gradient || f->real == sizeof(double)); i++)
        TEST_ASSERT_TRUE_MESSAGE(isfinite(model_get(f, f->dparams, i)),
                                 model_describe(f, "dparams"));
}

typedef void (*bend_fn)(model_call *f);

static void for_each_model(int64_t d, bend_fn bend, int float_holds_gradient)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for (int32_t objective = 0; objective < 4; objective++)
            for (int precision = 32; precision <= 64; precision += 32) {
                model_spec spec = spec_of(&flavours[i], objective);
                if (objective == NPAGG_OBJECTIVE_ELBO_CLOSED && i != 0 && i != 2)
                    continue;
                spec.d = d;
                spec.points = NPAGG_POINTS_ALL;
                model_call *f = model_call_ragged(ctx, &spec, precision, 111);
                bend(f);
                check_sane(f, float_holds_gradient);
                model_call_destroy(f);
            }
}

static void bend_y(model_call *f)
{
    model_put(f, f->y, 1, 1e15);
    model_put(f, f->y, 4, -1e15);
}

static void test_far_observations_leave_losses_and_gradients_finite(void)
{
    for_each_model(2, bend_y, 1);
}

/* The square of this is beyond float, and so are sums in the gradient. */
static void bend_y_further(model_call *f)
{
    model_put(f, f->y, 1, 1e30);
    model_put(f, f->y, 4, -1e30);
}

static void test_observations_beyond_the_square_root_of_float_leave_losses_finite(void)
{
    for_each_model(2, bend_y_further, 0);
}

/* Components so far apart that one of them has all the weight, to the last digit. */
static void bend_prior(model_call *f)
{
    const int64_t mean = npagg_model_param_offset(f->model, "prior.mean");
    for (int64_t i = 0; mean >= 0 && i < f->k * f->d; i++)
        model_put(f, f->params, mean + i, 1e3 * (double)(1 + i / f->d));
}

static void test_far_components_leave_losses_and_gradients_finite(void)
{
    for_each_model(2, bend_prior, 1);
}

static void bend_nothing(model_call *f)
{
    (void)f;
}

static void test_thousand_dimensions_leave_losses_and_gradients_finite(void)
{
    for_each_model(1000, bend_nothing, 1);
    for_each_model(1000, bend_prior, 1);
}

static void test_far_context_predicts_finite_numbers(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++) {
        const model_spec spec = spec_of(&flavours[i], NPAGG_OBJECTIVE_IWAE);
        model_call *f = model_call_ragged(ctx, &spec, 32, 113);
        bend_y(f);
        prediction *p = prediction_create(f);
        prediction_run(ctx, p);
        for (int64_t n = 0; n < (int64_t)(p->out_bytes / f->real); n++)
            TEST_ASSERT_TRUE(isfinite(model_get(f, p->out, n)));
        prediction_destroy(p);
        model_call_destroy(f);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_far_observations_leave_losses_and_gradients_finite);
    RUN_TEST(test_observations_beyond_the_square_root_of_float_leave_losses_finite);
    RUN_TEST(test_far_components_leave_losses_and_gradients_finite);
    RUN_TEST(test_thousand_dimensions_leave_losses_and_gradients_finite);
    RUN_TEST(test_far_context_predicts_finite_numbers);
    return UNITY_END();
}
