/* What the mlp decoder computes: values against plain loops, gradients against differences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decoder_case.h"

static npagg_ctx *ctx;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

static const int64_t sizes[] = {3, 0, 5, 1};

/* Every option at least once. */
static const decoder_shape shapes[] = {
    {1, 1, 3, 2, {4, 5}, 2, NPAGG_ACTIVATION_RELU, 0, -1},
    {2, 2, 2, 3, {4, 3, 6}, 3, NPAGG_ACTIVATION_GELU, 0, 0},
    {0, 1, 4, 1, {7}, 1, NPAGG_ACTIVATION_TANH, 0, 0.5},
    {3, 2, 1, 2, {2, 3}, 4, NPAGG_ACTIVATION_SOFTPLUS, 0, -1},
    {1, 3, 2, 2, {5, 1}, 2, NPAGG_ACTIVATION_SIGMOID, 0, 0.01},
    {2, 2, 3, 0, {0}, 3, NPAGG_ACTIVATION_RELU, 0, -1},
    {0, 1, 2, 0, {0}, 2, NPAGG_ACTIVATION_RELU, 1, -1},
    {1, 1, 3, 2, {4, 5}, 2, NPAGG_ACTIVATION_TANH, 1, -1},
    {2, 3, 2, 1, {6}, 5, NPAGG_ACTIVATION_GELU, 1, -1},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void compare_plain(const decoder_shape *shape, int64_t n_sets, const int64_t *n)
{
    decoder_case *c = decoder_case_create(ctx, shape, n_sets, n, 5);
    const int64_t count = c->n * c->n_samples * c->outputs;
    decoder_result *want = decoder_run_plain(c);
    decoder_result *got = decoder_run_forward(ctx, c, 64), *single = decoder_run(ctx, c, 32, NULL);
    ASSERT_ALL_CLOSE(count, want->py, got->py, 1e-13, 0);
    ASSERT_ALL_CLOSE(count, want->py, single->py, 1e-5, 0);
    decoder_result_destroy(want);
    decoder_result_destroy(got);
    decoder_result_destroy(single);
    decoder_case_destroy(c);
}

static void test_decoder_is_what_plain_loops_give(void)
{
    for (int i = 0; i < SHAPES; i++)
        compare_plain(&shapes[i], 4, sizes);
}

/* Samples that fill a tile, that just do not, that are more than its rows. */
static void test_decoder_of_any_number_of_samples_is_what_plain_loops_give(void)
{
    const int64_t n[] = {38, 3, 0, 70}, samples[] = {1, 5, 31, 32, 33, 63, 127, 128, 129, 300};
    for (int i = 0; i < 10; i++) {
        decoder_shape shape = shapes[0];
        shape.n_samples = samples[i];
        compare_plain(&shape, 4, n);
    }
}

typedef struct {
    const decoder_case *c;
} loss_arg;

static double loss_of(void *user)
{
    return decoder_loss(ctx, ((loss_arg *)user)->c);
}

static void check_differences(const decoder_case *c, int64_t n, double *x, const double *dx)
{
    loss_arg arg = {c};
    double *want = zeros_of(n);
    for (int64_t i = 0; i < n; i++)
        want[i] = difference_in(&x[i], 1e-5, loss_of, &arg);
    ASSERT_ALL_CLOSE(n, want, dx, 1e-7, 1e-10);
    free(want);
}

static void check_gradients(const decoder_case *c)
{
    const int64_t nz = c->n_sets * c->n_samples * c->d;
    decoder_result *r = decoder_run(ctx, c, 64, NULL), *single = decoder_run(ctx, c, 32, NULL);
    check_differences(c, c->p, c->params, r->dparams);
    check_differences(c, c->n * c->x_dim, c->x, r->dx);
    check_differences(c, nz, c->z, r->dz);
    ASSERT_ALL_CLOSE(c->p, r->dparams, single->dparams, 2e-5, 0);
    ASSERT_ALL_CLOSE(c->n * c->x_dim, r->dx, single->dx, 2e-5, 0);
    ASSERT_ALL_CLOSE(nz, r->dz, single->dz, 2e-5, 0);
    decoder_result_destroy(r);
    decoder_result_destroy(single);
}

static void test_decoder_gradients_are_differences(void)
{
    for (int i = 0; i < SHAPES; i++) {
        decoder_case *c = decoder_case_create(ctx, &shapes[i], 4, sizes, 6);
        check_gradients(c);
        decoder_case_destroy(c);
    }
}

static void test_decoder_gradients_of_many_samples_are_differences(void)
{
    const int64_t n[] = {7, 0, 2}, samples[] = {40, 130, 257};
    for (int i = 0; i < 3; i++) {
        const decoder_shape shape = {1, 1, 1, 1, {3}, samples[i], NPAGG_ACTIVATION_TANH, 0, -1};
        decoder_case *c = decoder_case_create(ctx, &shape, 3, n, 7);
        check_gradients(c);
        decoder_case_destroy(c);
    }
}

/* One direction through all parameters of a batch of many tiles. */
static void test_decoder_gradient_of_many_tiles_is_a_difference(void)
{
    const int64_t n[] = {500, 77, 900};
    const decoder_shape shape = {1, 1, 6, 2, {8, 8}, 5, NPAGG_ACTIVATION_TANH, 0, -1};
    decoder_case *c = decoder_case_create(ctx, &shape, 3, n, 8);
    decoder_result *r = decoder_run(ctx, c, 64, NULL);
    test_rng rng = {3};
    double want = 0, *direction = normals_of(&rng, c->p);
    for (int64_t i = 0; i < c->p; i++)
        want += direction[i] * r->dparams[i];
    double at[2];
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < c->p; i++)
            c->params[i] += (side ? -2 : 1) * 1e-5 * direction[i];
        at[side] = decoder_loss(ctx, c);
    }
    ASSERT_CLOSE(want, (at[0] - at[1]) / 2e-5, 1e-7, 0);
    free(direction);
    decoder_result_destroy(r);
    decoder_case_destroy(c);
}

static void backward_into(const decoder_case *c, double *dp, double *dx, double *dz,
                          npagg_cache *cache)
{
    ASSERT_OK(ctx, npagg_decoder_backward_f64(ctx, c->decoder, c->params, c->n_sets, c->offsets,
                                              c->n_samples, c->x, c->z, c->dpy, dp, dx, dz, cache));
}

static void test_decoder_gradients_are_added_and_each_may_be_absent(void)
{
    decoder_case *c = decoder_case_create(ctx, &shapes[0], 4, sizes, 9);
    const int64_t nz = c->n_sets * c->n_samples * c->d;
    decoder_result *r = decoder_run(ctx, c, 64, NULL);
    npagg_cache *cache = NULL;
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    double *dp = zeros_of(c->p), *dx = zeros_of(c->n), *dz = zeros_of(nz);
    double *py = zeros_of(c->n * c->n_samples * c->outputs);
    ASSERT_OK(ctx, npagg_decoder_forward_f64(ctx, c->decoder, c->params, c->n_sets, c->offsets,
                                             c->n_samples, c->x, c->z, py, cache));
    backward_into(c, dp, NULL, NULL, cache);
    backward_into(c, NULL, dx, NULL, cache);
    backward_into(c, NULL, NULL, dz, cache);
    ASSERT_SAME_BITS(c->p * 8, r->dparams, dp);
    ASSERT_SAME_BITS(c->n * 8, r->dx, dx);
    ASSERT_SAME_BITS(nz * 8, r->dz, dz);
    backward_into(c, dp, dx, dz, cache);
    for (int64_t i = 0; i < nz; i++)
        ASSERT_CLOSE(2 * r->dz[i], dz[i], 1e-13, 1e-13);
    for (int64_t i = 0; i < c->p; i++)
        ASSERT_CLOSE(2 * r->dparams[i], dp[i], 1e-13, 1e-13);
    backward_into(c, NULL, NULL, NULL, cache);
    free(dp);
    free(dx);
    free(dz);
    free(py);
    npagg_cache_destroy(cache);
    decoder_result_destroy(r);
    decoder_case_destroy(c);
}

/* Networks whose output is far out: sd stays above its floor, nothing is NaN. */
static void test_decoder_sd_stays_above_its_floor(void)
{
    const double out[] = {-1e30, -90, 90, 1e30};
    for (int i = 0; i < 4; i++)
        for (int precision = 32; precision <= 64; precision += 32) {
            decoder_case *c = decoder_case_create(ctx, &shapes[4], 4, sizes, 10);
            const int64_t at = npagg_decoder_param_offset(c->decoder, "sd.2.bias");
            for (int64_t j = 0; j < c->y_dim; j++)
                c->params[at + j] = out[i];
            decoder_result *r = decoder_run(ctx, c, precision, NULL);
            for (int64_t k = 0; k < c->n * c->n_samples; k++)
                for (int64_t j = c->y_dim; j < c->outputs; j++)
                    TEST_ASSERT_TRUE(r->py[k * c->outputs + j] >=
                                     (precision == 32 ? (double)0.01f : 0.01));
            ASSERT_ALL_FINITE(c->p, r->dparams);
            decoder_result_destroy(r);
            decoder_case_destroy(c);
        }
}

static void test_decoder_of_no_points_does_nothing(void)
{
    const int64_t none[] = {0, 0};
    for (int64_t n_sets = 0; n_sets <= 2; n_sets++) {
        decoder_case *c = decoder_case_create(ctx, &shapes[0], n_sets, none, 11);
        decoder_result *r = decoder_run(ctx, c, 32, NULL);
        for (int64_t i = 0; i < c->p; i++)
            TEST_ASSERT_TRUE(r->dparams[i] == 0);
        for (int64_t i = 0; i < n_sets * c->n_samples * c->d; i++)
            TEST_ASSERT_TRUE(r->dz[i] == 0);
        decoder_result_destroy(r);
        decoder_case_destroy(c);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_decoder_is_what_plain_loops_give);
    RUN_TEST(test_decoder_of_any_number_of_samples_is_what_plain_loops_give);
    RUN_TEST(test_decoder_gradients_are_differences);
    RUN_TEST(test_decoder_gradients_of_many_samples_are_differences);
    RUN_TEST(test_decoder_gradient_of_many_tiles_is_a_difference);
    RUN_TEST(test_decoder_gradients_are_added_and_each_may_be_absent);
    RUN_TEST(test_decoder_sd_stays_above_its_floor);
    RUN_TEST(test_decoder_of_no_points_does_nothing);
    return UNITY_END();
}
