/* Calls of an encoder that must be refused: the text says why, outputs stay, the cache is empty,
 * and the next good call gives the undisturbed bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder_case.h"
#include "meter.h"

void setUp(void)
{
}

void tearDown(void)
{
}

static const encoder_shape shapes[] = {
    {.x_dim = 2, .y_dim = 1, .d = 3, .n_hidden = 1, .widths = {4}},
    {.kind = MEAN,
     .x_dim = 2,
     .y_dim = 1,
     .d = 3,
     .n_hidden = 1,
     .widths = {4},
     .n_post = 1,
     .post_widths = {2}},
    {.kind = ATTENTION,
     .x_dim = 2,
     .y_dim = 1,
     .d = 3,
     .n_hidden = 1,
     .widths = {4},
     .n_heads = 2,
     .n_post = 1,
     .post_widths = {2}},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const int64_t sizes[] = {3, 0, 2};
enum { N = 5, X = 2 * N, ND = 3 * N, OUT = 2 * ND + 256 };

/* Every argument of both calls; outputs in one block: m, v, dx, dy, dparams. */
typedef struct {
    npagg_ctx *ctx;
    const npagg_encoder *encoder;
    const double *params, *x, *y, *dm, *dv;
    int64_t n_sets;
    const int64_t *offsets;
    double *m, *v, *dx, *dy, *dparams;
    npagg_cache *cache;
} call;

typedef struct {
    meter meter;
    encoder_case *c;
    call good;
    double out[OUT], want[OUT];
} stage;

static npagg_status forward(const call *a)
{
    return npagg_encoder_forward_f64(a->ctx, a->encoder, a->params, a->n_sets, a->offsets, a->x,
                                     a->y, a->m, a->v, a->cache);
}

static npagg_status backward(const call *a)
{
    return npagg_encoder_backward_f64(a->ctx, a->encoder, a->params, a->n_sets, a->offsets, a->x,
                                      a->y, a->dm, a->dv, a->dparams, a->dx, a->dy, a->cache);
}

static void run_good(stage *s)
{
    memset(s->out, 0, sizeof s->out);
    ASSERT_OK(s->good.ctx, forward(&s->good));
    ASSERT_OK(s->good.ctx, backward(&s->good));
}

static stage *begin(const encoder_shape *shape)
{
    stage *s = calloc(1, sizeof *s);
    TEST_ASSERT_NOT_NULL(s);
    meter_init(&s->meter);
    npagg_ctx *ctx = meter_ctx(&s->meter);
    encoder_case *c = s->c = encoder_case_create(ctx, shape, 3, sizes, 1);
    s->good = (call){ctx,
                     c->encoder,
                     c->params,
                     c->x,
                     c->y,
                     c->dm,
                     c->dv,
                     c->n_sets,
                     c->offsets,
                     s->out,
                     s->out + ND,
                     s->out + 2 * ND,
                     s->out + 2 * ND + X,
                     s->out + 2 * ND + 20,
                     NULL};
    TEST_ASSERT_TRUE(c->p < OUT - 2 * ND - 20);
    ASSERT_OK(ctx, npagg_cache_create(ctx, &s->good.cache));
    run_good(s);
    memcpy(s->want, s->out, sizeof s->out);
    return s;
}

static void end(stage *s)
{
    encoder_case_destroy(s->c);
    npagg_cache_destroy(s->good.cache);
    npagg_ctx_destroy(s->good.ctx);
    ASSERT_BALANCED(&s->meter);
    free(s);
}

static void check_refused(stage *s, npagg_status status, npagg_status got, const char *text)
{
    check_status(s->good.ctx, status, got, text, "the bad call", __LINE__);
    for (int i = 0; i < OUT; i++)
        TEST_ASSERT_TRUE(s->out[i] == 77);
    TEST_ASSERT_EQUAL_UINT64(0, npagg_cache_bytes(s->good.cache));
    run_good(s);
    ASSERT_SAME_BITS((int64_t)sizeof s->out, s->want, s->out);
}

static void poison(stage *s)
{
    for (int i = 0; i < OUT; i++)
        s->out[i] = 77;
}

static void refuse_forward(stage *s, const call *bad, npagg_status status, const char *text)
{
    poison(s);
    check_refused(s, status, forward(bad), text);
}

static void refuse_backward(stage *s, const call *bad, npagg_status status, const char *text)
{
    poison(s);
    check_refused(s, status, backward(bad), text);
}

#define REFUSE(s, field, value, status, text)                                                      \
    do {                                                                                           \
        call bad = (s)->good;                                                                      \
        bad.field = (value);                                                                       \
        refuse_forward((s), &bad, (status), (text));                                               \
        refuse_backward((s), &bad, (status), (text));                                              \
    } while (0)

static void refuse_arguments(const encoder_shape *shape)
{
    stage *s = begin(shape);
    const int64_t falling[] = {0, 3, 2, 5}, late[] = {1, 3, 3, 5};
    REFUSE(s, encoder, NULL, NPAGG_E_ARG, "encoder is NULL");
    REFUSE(s, params, NULL, NPAGG_E_ARG, "params is NULL");
    REFUSE(s, x, NULL, NPAGG_E_ARG, "x is NULL");
    REFUSE(s, y, NULL, NPAGG_E_ARG, "y is NULL");
    REFUSE(s, offsets, NULL, NPAGG_E_ARG, "offsets is NULL");
    REFUSE(s, offsets, falling, NPAGG_E_ARG, "offsets[2] = 2");
    REFUSE(s, offsets, late, NPAGG_E_ARG, "offsets[0] = 1");
    REFUSE(s, n_sets, -1, NPAGG_E_ARG, "n_sets = -1");
    call bad = s->good;
    bad.m = NULL;
    refuse_forward(s, &bad, NPAGG_E_ARG, "m is NULL");
    bad = s->good;
    bad.v = NULL;
    refuse_forward(s, &bad, NPAGG_E_ARG, "v is NULL");
    bad = s->good;
    bad.cache = NULL;
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, backward(&bad));
    bad.ctx = NULL;
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, forward(&bad));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, backward(&bad));
    end(s);
}

static void test_encoder_without_a_needed_argument_names_it(void)
{
    for (int i = 0; i < SHAPES; i++)
        refuse_arguments(&shapes[i]);
}

static void refuse_numbers(const encoder_shape *shape)
{
    stage *s = begin(shape);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    const char *x[] = {"x[3,1] = nan", "x[3,1] = inf", "x[3,1] = -inf"};
    const char *y[] = {"y[4,0] = nan", "y[4,0] = inf", "y[4,0] = -inf"};
    const char *p[] = {"params[12] = nan", "params[12] = inf", "params[12] = -inf"};
    double *at[] = {&s->c->x[7], &s->c->y[4], &s->c->params[12]};
    for (int i = 0; i < 9; i++) {
        double *cell = at[i / 3], old = *cell;
        *cell = bad[i % 3];
        poison(s);
        const npagg_status got = forward(&s->good);
        *cell = old;
        check_refused(s, NPAGG_E_NUMERIC, got, (i < 3 ? x : i < 6 ? y : p)[i % 3]);
    }
    end(s);
}

static void test_encoder_of_a_number_that_is_not_finite_says_which(void)
{
    for (int i = 0; i < SHAPES; i++)
        refuse_numbers(&shapes[i]);
}

/* The other encoder differs from that of the forward in its activation. */
static void refuse_another(const encoder_shape *shape)
{
    encoder_shape other_shape = *shape;
    other_shape.activation = 2;
    stage *s = begin(shape);
    const int64_t other[] = {0, 2, 3, 5};
    encoder_case *another = encoder_case_create(s->good.ctx, &other_shape, 3, sizes, 1);
    call bad = s->good;
    bad.offsets = other;
    refuse_backward(s, &bad, NPAGG_E_STATE, "offsets");
    bad = s->good;
    bad.encoder = another->encoder;
    refuse_backward(s, &bad, NPAGG_E_STATE, "another encoder");
    poison(s);
    ASSERT_FAILS(s->good.ctx, NPAGG_E_STATE, "f64, want f32",
                 npagg_encoder_backward_f32(s->good.ctx, s->good.encoder, (const float *)s->out, 3,
                                            s->good.offsets, (const float *)s->c->x,
                                            (const float *)s->c->y, NULL, NULL, NULL, NULL, NULL,
                                            s->good.cache));
    ASSERT_FAILS(s->good.ctx, NPAGG_E_STATE, "empty", backward(&s->good));
    encoder_case_destroy(another);
    end(s);
}

static void test_encoder_backward_of_another_forward_is_refused(void)
{
    for (int i = 0; i < SHAPES; i++)
        refuse_another(&shapes[i]);
}

/* 1 if there was an n-th allocation. */
static int attempt(const encoder_shape *shape, int64_t n, int forever, int is_backward)
{
    stage *s = begin(shape);
    call cold = s->good;
    cold.ctx = meter_ctx(&s->meter);
    if (!is_backward)
        ASSERT_OK(cold.ctx, npagg_cache_create(cold.ctx, &cold.cache));
    poison(s);
    meter_fail_in(&s->meter, n, forever);
    const npagg_status got = is_backward ? backward(&cold) : forward(&cold);
    const int failed = s->meter.failed > 0;
    meter_never_fail(&s->meter);
    TEST_ASSERT_EQUAL_INT32(failed ? NPAGG_E_NOMEM : NPAGG_OK, got);
    if (failed) {
        for (int i = 0; i < OUT; i++)
            TEST_ASSERT_TRUE(s->out[i] == 77);
        TEST_ASSERT_EQUAL_UINT64(0, npagg_cache_bytes(cold.cache));
        memset(s->out, 0, sizeof s->out);
        ASSERT_OK(cold.ctx, forward(&cold));
        ASSERT_OK(cold.ctx, backward(&cold));
        ASSERT_SAME_BITS((int64_t)sizeof s->out, s->want, s->out);
    }
    if (!is_backward)
        npagg_cache_destroy(cold.cache);
    npagg_ctx_destroy(cold.ctx);
    end(s);
    return failed;
}

static void test_encoder_survives_every_failing_allocation(void)
{
    for (int i = 0; i < 2 * SHAPES; i++) {
        const encoder_shape *shape = &shapes[i / 2];
        int64_t n = 1;
        while (attempt(shape, n, 0, i % 2) | attempt(shape, n, 1, i % 2))
            n++;
        TEST_ASSERT_GREATER_THAN_INT64(1, n);
    }
}

static void test_encoder_create_survives_a_failing_allocation(void)
{
    meter m;
    meter_init(&m);
    npagg_ctx *ctx = meter_ctx(&m);
    npagg_encoder *encoder = NULL;
    const int64_t one = 1;
    meter_fail_in(&m, 1, 1);
    ASSERT_FAILS(ctx, NPAGG_E_NOMEM, "no memory",
                 npagg_encoder_create_mlp(ctx, 1, 1, 1, 0, NULL, &encoder));
    ASSERT_FAILS(ctx, NPAGG_E_NOMEM, "no memory",
                 npagg_encoder_create_mean(ctx, 1, 1, 1, 1, &one, 1, &one, &encoder));
    ASSERT_FAILS(ctx, NPAGG_E_NOMEM, "no memory",
                 npagg_encoder_create_attention(ctx, 1, 1, 1, 1, &one, 1, 1, &one, &encoder));
    TEST_ASSERT_NULL(encoder);
    npagg_ctx_destroy(ctx);
    ASSERT_BALANCED(&m);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_encoder_without_a_needed_argument_names_it);
    RUN_TEST(test_encoder_of_a_number_that_is_not_finite_says_which);
    RUN_TEST(test_encoder_backward_of_another_forward_is_refused);
    RUN_TEST(test_encoder_survives_every_failing_allocation);
    RUN_TEST(test_encoder_create_survives_a_failing_allocation);
    return UNITY_END();
}
