/* Encoders of whole sets: their shapes and parameters, and what holds for sets only. What they
 * compute is compared with plain loops in test_encoder.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "encode/encoder.h"
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

/* Encoders of sets: all layers are 128 wide. */
static npagg_encoder *make_of_sets(int64_t x, int64_t n_pre, int64_t n_heads, int64_t n_post)
{
    const int64_t w[] = {128, 128, 128, 128, 128};
    npagg_encoder *e = NULL;
    ASSERT_OK(ctx,
              n_heads > 0
                  ? npagg_encoder_create_attention(ctx, x, 1, 128, n_pre, w, n_heads, n_post, w, &e)
                  : npagg_encoder_create_mean(ctx, x, 1, 128, n_pre, w, n_post, w, &e));
    return e;
}

static void check_count_of_sets(int64_t want, int64_t x, int64_t n_pre, int64_t n_heads,
                                int64_t n_post, int64_t dec_hidden)
{
    npagg_encoder *encoder = make_of_sets(x, n_pre, n_heads, n_post);
    npagg_decoder *decoder = NULL;
    const int64_t w[] = {128, 128, 128};
    ASSERT_OK(ctx, npagg_decoder_create_mlp(ctx, x, 1, 128, dec_hidden, w, &decoder));
    TEST_ASSERT_EQUAL_INT32(1, npagg_encoder_per_set(encoder));
    TEST_ASSERT_EQUAL_INT64(want, npagg_encoder_param_count(encoder) +
                                      npagg_decoder_param_count(decoder));
    npagg_encoder_destroy(encoder);
    npagg_decoder_destroy(decoder);
}

static void test_parameter_counts_of_the_baselines_are_the_papers(void)
{
    check_count_of_sets(166018, 1, 4, 0, 1, 2);
    check_count_of_sets(199170, 1, 2, 8, 1, 2);
    check_count_of_sets(248962, 2, 5, 0, 2, 3);
    check_count_of_sets(282114, 2, 3, 8, 2, 3);
}

/* Every name, in the order of the array, and its shape; a layout without holes. */
static void check_tensors(const npagg_encoder *encoder, int n, const char *const *names,
                          const int64_t (*shapes)[2])
{
    int64_t at = 0;
    np_tensor t;
    for (int i = 0; i < n; i++) {
        TEST_ASSERT_TRUE(np_encoder_tensor(encoder, i, &t));
        TEST_ASSERT_EQUAL_STRING(names[i], t.name);
        TEST_ASSERT_EQUAL_INT64(shapes[i][0], t.rows);
        TEST_ASSERT_EQUAL_INT64(shapes[i][1], t.columns);
        TEST_ASSERT_EQUAL_INT64(at, t.offset);
        TEST_ASSERT_EQUAL_INT64(at, npagg_encoder_param_offset(encoder, names[i]));
        at += t.rows * (t.columns ? t.columns : 1);
    }
    TEST_ASSERT_FALSE(np_encoder_tensor(encoder, n, &t));
    TEST_ASSERT_EQUAL_INT64(at, npagg_encoder_param_count(encoder));
}

static void test_tensors_of_encoders_of_sets_are_where_their_names_say(void)
{
    static const char *const names[] = {
        "pre.0.weight",  "pre.0.bias",   "pre.1.weight",  "pre.1.bias",     "query.weight",
        "key.weight",    "value.weight", "fc.weight",     "fc.bias",        "norm1.gain",
        "norm1.bias",    "norm2.gain",   "norm2.bias",    "joint.0.weight", "joint.0.bias",
        "mean.0.weight", "mean.0.bias",  "mean.1.weight", "mean.1.bias",    "sd.0.weight",
        "sd.0.bias",     "sd.1.weight",  "sd.1.bias"};
    static const int64_t sizes[][2] = {{5, 3}, {5, 0}, {6, 5}, {6, 0}, {6, 6}, {6, 6},
                                       {6, 6}, {6, 6}, {6, 0}, {6, 0}, {6, 0}, {6, 0},
                                       {6, 0}, {4, 6}, {4, 0}, {7, 4}, {7, 0}, {2, 7},
                                       {2, 0}, {7, 4}, {7, 0}, {2, 7}, {2, 0}};
    const int64_t pre[] = {5, 6}, post[] = {4, 7};
    npagg_encoder *e = NULL;
    ASSERT_OK(ctx, npagg_encoder_create_attention(ctx, 2, 1, 2, 2, pre, 3, 2, post, &e));
    check_tensors(e, 23, names, sizes);
    npagg_encoder_destroy(e);
    const char *mean_names[14];
    int64_t mean_sizes[14][2];
    for (int i = 0; i < 14; i++) {
        mean_names[i] = names[i < 4 ? i : i + 9];
        memcpy(mean_sizes[i], sizes[i < 4 ? i : i + 9], sizeof mean_sizes[i]);
    }
    ASSERT_OK(ctx, npagg_encoder_create_mean(ctx, 2, 1, 2, 2, pre, 2, post, &e));
    check_tensors(e, 14, mean_names, (const int64_t(*)[2])mean_sizes);
    npagg_encoder_destroy(e);
}

/* Layers and matrices +-1/sqrt(in), norms 1 and 0, as PyTorch's. */
static void test_initial_norms_change_nothing(void)
{
    npagg_encoder *e = make_of_sets(1, 2, 8, 1);
    double *p = zeros_of(npagg_encoder_param_count(e)), most = 0;
    ASSERT_OK(ctx, npagg_encoder_init_params_f64(ctx, e, 3, p));
    const int64_t norm = npagg_encoder_param_offset(e, "norm1.gain");
    for (int i = 0; i < 512; i++)
        TEST_ASSERT_TRUE(p[norm + i] == (i / 128 % 2 ? 0 : 1));
    const int64_t query = npagg_encoder_param_offset(e, "query.weight");
    for (int64_t i = query; i < norm; i++)
        most = fmax(most, fabs(p[i]));
    TEST_ASSERT_TRUE(most <= 1 / sqrt(128) && most > 0.999 / sqrt(128));
    free(p);
    npagg_encoder_destroy(e);
}

static npagg_status create_of_sets(int64_t n_pre, const int64_t *pre, int64_t heads, int64_t n_post,
                                   const int64_t *post)
{
    npagg_encoder *mean = NULL, *attention = NULL;
    const npagg_status status =
        npagg_encoder_create_attention(ctx, 1, 1, 3, n_pre, pre, heads, n_post, post, &attention);
    TEST_ASSERT_TRUE(status == NPAGG_OK || !attention);
    if (heads == 1)
        TEST_ASSERT_EQUAL_INT32(
            status, npagg_encoder_create_mean(ctx, 1, 1, 3, n_pre, pre, n_post, post, &mean));
    npagg_encoder_destroy(mean);
    npagg_encoder_destroy(attention);
    return status;
}

static void test_create_of_bad_sets_is_refused(void)
{
    int64_t w[NP_MAX_HIDDEN + 1];
    npagg_encoder *e = NULL;
    for (int i = 0; i <= NP_MAX_HIDDEN; i++)
        w[i] = 6;
    ASSERT_OK(ctx, create_of_sets(NP_MAX_HIDDEN, w, 1, NP_MAX_HIDDEN, w));
    ASSERT_OK(ctx, create_of_sets(1, w, 6, 1, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "n_pre = 0, want 1..32", create_of_sets(0, w, 1, 1, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "n_pre = 33", create_of_sets(33, w, 1, 1, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "n_post = 0", create_of_sets(1, w, 1, 0, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "pre_widths is NULL", create_of_sets(1, NULL, 1, 1, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "post_widths is NULL", create_of_sets(1, w, 1, 1, NULL));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "n_heads = 0", create_of_sets(1, w, 0, 1, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "n_heads = 4, want >= 1 and a divisor",
                 create_of_sets(1, w, 4, 1, w));
    w[1] = 0;
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "pre_widths[1] = 0", create_of_sets(3, w, 1, 1, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "post_widths[1] = 0", create_of_sets(1, w, 1, 2, w));
    w[1] = INT64_MAX / 4;
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "does not fit", create_of_sets(3, w, 1, 1, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "does not fit", create_of_sets(1, w, 1, 2, w));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "y_dim = 0",
                 npagg_encoder_create_mean(ctx, 1, 0, 1, 1, w, 1, w, &e));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "out is NULL",
                 npagg_encoder_create_mean(ctx, 1, 1, 1, 1, w, 1, w, NULL));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "does not fit",
                 npagg_encoder_create_mean(ctx, INT64_MAX, 1, 1, 1, w, 1, w, &e));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_encoder_create_mean(NULL, 1, 1, 1, 1, w, 1, w, &e));
    TEST_ASSERT_NULL(e);
    e = make_of_sets(1, 1, 0, 1);
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_encoder_set_trunk(e, 1));
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_encoder_set_trunk(e, 0));
    npagg_encoder_destroy(e);
}

/* The paper's of 1-D regression with a mean, and of images with attention. */
static const encoder_shape paper[] = {
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

/* Its one relu is behind a bias that no step reaches, so that the differences are smooth. */
static void test_attention_gradient_of_many_blocks_is_a_difference(void)
{
    const int64_t n[] = {500, 77, 49};
    const encoder_shape shape = {.kind = ATTENTION,
                                 .x_dim = 1,
                                 .y_dim = 1,
                                 .d = 6,
                                 .n_hidden = 2,
                                 .widths = {8, 12},
                                 .n_heads = 3,
                                 .n_post = 2,
                                 .post_widths = {7, 5},
                                 .activation = 2};
    encoder_case *c = encoder_case_create(ctx, &shape, 3, n, 8);
    const int64_t bias = npagg_encoder_param_offset(c->encoder, "fc.bias");
    for (int64_t j = 0; j < 12; j++)
        c->params[bias + j] = j % 3 ? 20 : -20;
    encoder_result *r = encoder_run(ctx, c, 64, NULL);
    encoder_check_direction(ctx, c, c->p, c->params, r->dparams);
    encoder_check_direction(ctx, c, c->n, c->x, r->dx);
    encoder_check_direction(ctx, c, c->n, c->y, r->dy);
    encoder_result_destroy(r);
    encoder_case_destroy(c);
}

/* Scores of thousands leave one point all the weight. */
static void test_attention_with_large_scores_is_finite(void)
{
    const int64_t n[] = {3, 0, 60, 1};
    const encoder_shape shape = paper[1];
    encoder_case *c = encoder_case_create(ctx, &shape, 4, n, 12);
    for (int64_t i = 0; i < c->p; i++)
        c->params[i] *= 50;
    for (int precision = 32; precision <= 64; precision += 32) {
        encoder_result *r = encoder_run(ctx, c, precision, NULL);
        ASSERT_ALL_FINITE(c->n_out * c->d, r->m);
        ASSERT_ALL_FINITE(c->n_out * c->d, r->v);
        ASSERT_ALL_FINITE(c->p, r->dparams);
        ASSERT_ALL_FINITE(c->n, r->dy);
        encoder_result_destroy(r);
    }
    encoder_case_destroy(c);
}

/* What backward needs is kept, but not the weights p_ij of all pairs of points. */
static void test_attention_keeps_memory_in_proportion_to_points(void)
{
    const encoder_shape shape = {.kind = ATTENTION,
                                 .x_dim = 1,
                                 .y_dim = 1,
                                 .d = 2,
                                 .n_hidden = 1,
                                 .widths = {8},
                                 .n_heads = 4,
                                 .n_post = 1,
                                 .post_widths = {2}};
    npagg_cache *cache = NULL;
    size_t bytes[2];
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    for (int i = 0; i < 2; i++) {
        const int64_t n = i ? 4096 : 1024;
        encoder_case *c = encoder_case_create(ctx, &shape, 1, &n, 14);
        encoder_result *r = encoder_run(ctx, c, 32, cache);
        bytes[i] = npagg_cache_bytes(cache);
        ASSERT_ALL_FINITE(c->p, r->dparams);
        encoder_result_destroy(r);
        encoder_case_destroy(c);
    }
    TEST_ASSERT_TRUE(bytes[1] < 4 * bytes[0] + 4096);
    npagg_cache_destroy(cache);
}

static void reverse_points(encoder_case *c, int64_t b)
{
    for (int64_t i = c->offsets[b], j = c->offsets[b + 1] - 1; i < j; i++, j--) {
        const double x = c->x[i], y = c->y[i];
        c->x[i] = c->x[j];
        c->y[i] = c->y[j];
        c->x[j] = x;
        c->y[j] = y;
    }
}

static void test_encoders_of_sets_do_not_mind_the_order_of_points(void)
{
    const int64_t n[] = {300, 70};
    for (int kind = MEAN; kind <= ATTENTION; kind++) {
        encoder_shape shape = paper[kind - MEAN];
        shape.x_dim = 1;
        encoder_case *c = encoder_case_create(ctx, &shape, 2, n, 13);
        encoder_result *want = encoder_run_forward(ctx, c, 64);
        reverse_points(c, 0);
        reverse_points(c, 1);
        encoder_result *got = encoder_run_forward(ctx, c, 64);
        ASSERT_ALL_CLOSE(c->n_out * c->d, want->m, got->m, 1e-13, 0);
        ASSERT_ALL_CLOSE(c->n_out * c->d, want->v, got->v, 1e-13, 0);
        encoder_result_destroy(want);
        encoder_result_destroy(got);
        encoder_case_destroy(c);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_parameter_counts_of_the_baselines_are_the_papers);
    RUN_TEST(test_tensors_of_encoders_of_sets_are_where_their_names_say);
    RUN_TEST(test_initial_norms_change_nothing);
    RUN_TEST(test_create_of_bad_sets_is_refused);
    RUN_TEST(test_attention_gradient_of_many_blocks_is_a_difference);
    RUN_TEST(test_attention_with_large_scores_is_finite);
    RUN_TEST(test_attention_keeps_memory_in_proportion_to_points);
    RUN_TEST(test_encoders_of_sets_do_not_mind_the_order_of_points);
    return UNITY_END();
}
