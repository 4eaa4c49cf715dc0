/* What encoders compute: values against plain loops, gradients against differences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder_case.h"

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
static const encoder_shape shapes[] = {
    {.x_dim = 1, .y_dim = 1, .d = 3, .n_hidden = 2, .widths = {4, 5}},
    {.x_dim = 2, .y_dim = 1, .d = 2, .n_hidden = 3, .widths = {4, 3, 6}, .activation = 1},
    {.x_dim = 0, .y_dim = 2, .d = 4, .n_hidden = 1, .widths = {7}, .activation = 2},
    {.x_dim = 3, .y_dim = 2, .d = 1, .n_hidden = 2, .widths = {2, 3}, .activation = 3},
    {.x_dim = 1, .y_dim = 3, .d = 2, .n_hidden = 2, .widths = {5, 1}, .activation = 4},
    {.x_dim = 2, .y_dim = 2, .d = 3},
    {.x_dim = 1, .y_dim = 1, .d = 3, .n_hidden = 2, .widths = {4, 5}, .trunk = 1},
    {.x_dim = 1, .y_dim = 2, .d = 2, .n_hidden = 1, .widths = {6}, .trunk = 1, .activation = 1},
    {.x_dim = 1,
     .y_dim = 1,
     .d = 9,
     .n_hidden = 3,
     .widths = {3, 2, 4},
     .trunk = 1,
     .activation = 3},
    {.x_dim = 1,
     .y_dim = 1,
     .d = 3,
     .n_hidden = 1,
     .widths = {4},
     .activation = 2,
     .lo = 0.5,
     .hi = 7},
    {.kind = MEAN,
     .x_dim = 1,
     .y_dim = 1,
     .d = 3,
     .n_hidden = 2,
     .widths = {4, 5},
     .n_post = 1,
     .post_widths = {4}},
    {.kind = MEAN,
     .x_dim = 2,
     .y_dim = 1,
     .d = 2,
     .n_hidden = 1,
     .widths = {3},
     .n_post = 3,
     .post_widths = {4, 2, 5},
     .activation = 1,
     .lo = 0.5,
     .hi = 7},
    {.kind = MEAN,
     .x_dim = 0,
     .y_dim = 2,
     .d = 1,
     .n_hidden = 3,
     .widths = {4, 2, 6},
     .n_post = 2,
     .post_widths = {3, 1},
     .activation = 3},
    {.kind = ATTENTION,
     .x_dim = 1,
     .y_dim = 1,
     .d = 3,
     .n_hidden = 2,
     .widths = {4, 6},
     .n_heads = 2,
     .n_post = 1,
     .post_widths = {4},
     .activation = 2},
    {.kind = ATTENTION,
     .x_dim = 2,
     .y_dim = 1,
     .d = 2,
     .n_hidden = 1,
     .widths = {6},
     .n_heads = 6,
     .n_post = 2,
     .post_widths = {4, 3},
     .activation = 3},
    {.kind = ATTENTION,
     .x_dim = 0,
     .y_dim = 3,
     .d = 1,
     .n_hidden = 3,
     .widths = {5, 3, 7},
     .n_heads = 1,
     .n_post = 3,
     .post_widths = {3, 4, 2},
     .activation = 1,
     .lo = 0.01,
     .hi = 2},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void compare_plain(const encoder_shape *shape, int64_t n_sets, const int64_t *n)
{
    encoder_case *c = encoder_case_create(ctx, shape, n_sets, n, 5);
    encoder_result *want = encoder_run_plain(c);
    encoder_result *got = encoder_run_forward(ctx, c, 64), *single = encoder_run(ctx, c, 32, NULL);
    ASSERT_ALL_CLOSE(c->n_out * c->d, want->m, got->m, 1e-13, 0);
    ASSERT_ALL_CLOSE(c->n_out * c->d, want->v, got->v, 1e-13, 0);
    ASSERT_ALL_CLOSE(c->n_out * c->d, want->m, single->m, 1e-5, 0);
    ASSERT_ALL_CLOSE(c->n_out * c->d, want->v, single->v, 1e-5, 0);
    encoder_result_destroy(want);
    encoder_result_destroy(got);
    encoder_result_destroy(single);
    encoder_case_destroy(c);
}

/* The paper's of 1-D regression, and the image encoder with attention. */
static const encoder_shape paper[] = {
    {.x_dim = 1, .y_dim = 1, .d = 128, .n_hidden = 3, .widths = {64, 64, 64}},
    {.kind = MEAN,
     .x_dim = 1,
     .y_dim = 1,
     .d = 128,
     .n_hidden = 4,
     .widths = {128, 128, 128, 128},
     .n_post = 1,
     .post_widths = {128}},
    {.kind = ATTENTION,
     .x_dim = 2,
     .y_dim = 1,
     .d = 128,
     .n_hidden = 3,
     .widths = {128, 128, 128},
     .n_heads = 8,
     .n_post = 2,
     .post_widths = {128, 128}},
};

static void test_encoder_is_what_plain_loops_give(void)
{
    const int64_t large[] = {100, 27, 1, 129, 60};
    for (int i = 0; i < SHAPES; i++)
        compare_plain(&shapes[i], 4, sizes);
    for (int i = 0; i < 3; i++)
        compare_plain(&paper[i], 5, large);
}

typedef struct {
    const encoder_case *c;
} loss_arg;

static double loss_of(void *user)
{
    return encoder_loss(ctx, ((loss_arg *)user)->c);
}

static void check_differences(const encoder_case *c, int64_t n, double *x, const double *dx)
{
    loss_arg arg = {c};
    double *want = zeros_of(n);
    for (int64_t i = 0; i < n; i++)
        want[i] = difference_in(&x[i], 1e-5, loss_of, &arg);
    ASSERT_ALL_CLOSE(n, want, dx, 1e-7, 1e-10);
    free(want);
}

static void check_gradients(const encoder_case *c)
{
    encoder_result *r = encoder_run(ctx, c, 64, NULL), *single = encoder_run(ctx, c, 32, NULL);
    check_differences(c, c->p, c->params, r->dparams);
    check_differences(c, c->n * c->x_dim, c->x, r->dx);
    check_differences(c, c->n * c->y_dim, c->y, r->dy);
    ASSERT_ALL_CLOSE(c->p, r->dparams, single->dparams, 2e-5, 0);
    ASSERT_ALL_CLOSE(c->n * c->x_dim, r->dx, single->dx, 2e-5, 0);
    ASSERT_ALL_CLOSE(c->n * c->y_dim, r->dy, single->dy, 2e-5, 0);
    encoder_result_destroy(r);
    encoder_result_destroy(single);
}

static void test_encoder_gradients_are_differences(void)
{
    for (int i = 0; i < SHAPES; i++) {
        encoder_case *c = encoder_case_create(ctx, &shapes[i], 4, sizes, 6);
        check_gradients(c);
        encoder_case_destroy(c);
    }
}

static void test_encoder_gradients_with_one_cotangent_are_differences(void)
{
    for (int i = 0; i < SHAPES; i++)
        for (int which = 0; which < 2; which++) {
            encoder_case *c = encoder_case_create(ctx, &shapes[i], 4, sizes, 7);
            free(which ? c->dm : c->dv);
            *(which ? &c->dm : &c->dv) = NULL;
            check_gradients(c);
            encoder_case_destroy(c);
        }
}

static void test_encoder_gradient_of_many_tiles_is_a_difference(void)
{
    const int64_t n[] = {1500, 77, 900};
    const encoder_shape smooth[] = {
        {.x_dim = 1, .y_dim = 1, .d = 6, .n_hidden = 2, .widths = {8, 8}, .activation = 2},
        {.kind = MEAN,
         .x_dim = 1,
         .y_dim = 1,
         .d = 6,
         .n_hidden = 2,
         .widths = {8, 8},
         .n_post = 2,
         .post_widths = {7, 5},
         .activation = 2},
    };
    for (int i = 0; i < 2; i++) {
        encoder_case *c = encoder_case_create(ctx, &smooth[i], 3, n, 8);
        encoder_result *r = encoder_run(ctx, c, 64, NULL);
        encoder_check_direction(ctx, c, c->p, c->params, r->dparams);
        encoder_check_direction(ctx, c, c->n, c->y, r->dy);
        encoder_result_destroy(r);
        encoder_case_destroy(c);
    }
}

static void add_gradients(const encoder_shape *shape)
{
    encoder_case *c = encoder_case_create(ctx, shape, 4, sizes, 9);
    encoder_result *r = encoder_run(ctx, c, 64, NULL);
    npagg_cache *cache = NULL;
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    double *dp = zeros_of(c->p), *dx = zeros_of(c->n), *m = zeros_of(c->n_out * c->d),
           *v = zeros_of(c->n_out * c->d);
    ASSERT_OK(ctx, npagg_encoder_forward_f64(ctx, c->encoder, c->params, c->n_sets, c->offsets,
                                             c->x, c->y, m, v, cache));
    for (int64_t i = 0; i < c->p; i++)
        dp[i] = 1;
    for (int i = 0; i < 2; i++)
        ASSERT_OK(ctx, npagg_encoder_backward_f64(ctx, c->encoder, c->params, c->n_sets, c->offsets,
                                                  c->x, c->y, c->dm, c->dv, i ? NULL : dp, dx, NULL,
                                                  cache));
    for (int64_t i = 0; i < c->p; i++)
        ASSERT_CLOSE(1 + r->dparams[i], dp[i], 1e-13, 1e-13);
    for (int64_t i = 0; i < c->n; i++)
        ASSERT_CLOSE(2 * r->dx[i], dx[i], 1e-13, 1e-13);
    free(dp);
    free(dx);
    free(m);
    free(v);
    npagg_cache_destroy(cache);
    encoder_result_destroy(r);
    encoder_case_destroy(c);
}

static void test_encoder_gradients_are_added(void)
{
    add_gradients(&shapes[0]);
    add_gradients(&shapes[10]);
    add_gradients(&shapes[13]);
}

/* Networks whose output is far out: v stays in its range, nothing is NaN. */
static void check_range(encoder_shape shape, const char *bias)
{
    shape.lo = 0.25, shape.hi = 4;
    encoder_case *c = encoder_case_create(ctx, &shape, 4, sizes, 10);
    const int64_t at = npagg_encoder_param_offset(c->encoder, bias);
    for (int sign = -1; sign <= 1; sign += 2)
        for (int precision = 32; precision <= 64; precision += 32) {
            for (int64_t j = 0; j < c->d; j++)
                c->params[at + j] = sign * 1e30;
            encoder_result *r = encoder_run(ctx, c, precision, NULL);
            for (int64_t i = 0; i < c->n_out * c->d; i++)
                TEST_ASSERT_TRUE(r->v[i] == (sign < 0 ? 0.25 : 4));
            ASSERT_ALL_FINITE(c->p, r->dparams);
            encoder_result_destroy(r);
        }
    encoder_case_destroy(c);
}

static void test_encoder_variance_stays_in_its_range(void)
{
    check_range(shapes[9], "var.1.bias");
    check_range(shapes[10], "sd.0.bias");
    check_range(shapes[13], "sd.0.bias");
}

static void test_encoder_of_no_points_does_nothing(void)
{
    const int64_t none[] = {0, 0};
    for (int64_t n_sets = 0; n_sets <= 2; n_sets++) {
        encoder_case *c = encoder_case_create(ctx, &shapes[0], n_sets, none, 11);
        encoder_result *r = encoder_run(ctx, c, 32, NULL);
        for (int64_t i = 0; i < c->p; i++)
            TEST_ASSERT_TRUE(r->dparams[i] == 0);
        encoder_result_destroy(r);
        encoder_case_destroy(c);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_encoder_is_what_plain_loops_give);
    RUN_TEST(test_encoder_gradients_are_differences);
    RUN_TEST(test_encoder_gradients_with_one_cotangent_are_differences);
    RUN_TEST(test_encoder_gradient_of_many_tiles_is_a_difference);
    RUN_TEST(test_encoder_gradients_are_added);
    RUN_TEST(test_encoder_variance_stays_in_its_range);
    RUN_TEST(test_encoder_of_no_points_does_nothing);
    return UNITY_END();
}
