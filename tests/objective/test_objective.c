/* Objectives alone: settings, values of one task from what its samples are worth, and gradients. */
#include "objective/objective.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "meter.h"
#include "numbers.h"

enum { S = 5, KINDS = 4 };

static npagg_ctx *ctx;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

static npagg_objective *create(int32_t kind)
{
    npagg_objective *o = NULL;
    ASSERT_OK(ctx, npagg_objective_create(ctx, kind, &o));
    return o;
}

static void test_defaults_are_those_of_the_header(void)
{
    for (int32_t kind = 0; kind < KINDS; kind++) {
        npagg_objective *o = create(kind);
        const int iwae = kind == NPAGG_OBJECTIVE_IWAE;
        TEST_ASSERT_EQUAL_INT32(kind, o->kind);
        TEST_ASSERT_EQUAL_INT32(iwae ? NPAGG_POINTS_ALL : NPAGG_POINTS_TARGET, o->points);
        TEST_ASSERT_EQUAL_INT32(iwae, o->normalise);
        TEST_ASSERT_EQUAL_INT32(NPAGG_SAMPLE_STRATIFIED, o->sampling);
        TEST_ASSERT_EQUAL_INT32(NPAGG_KL_AUTO, o->kl);
        TEST_ASSERT_EQUAL_INT64(5, o->samples);
        npagg_objective_destroy(o);
    }
}

typedef npagg_status (*setter)(npagg_objective *objective, int32_t value);

static void test_setters_out_of_range_are_refused_and_change_nothing(void)
{
    const setter setters[] = {npagg_objective_set_points, npagg_objective_set_normalise,
                              npagg_objective_set_sampling, npagg_objective_set_kl};
    const int32_t last[] = {1, 1, 2, 3};
    npagg_objective *o = create(NPAGG_OBJECTIVE_ELBO);
    for (int i = 0; i < 4; i++) {
        for (int32_t value = 0; value <= last[i]; value++)
            ASSERT_OK(ctx, setters[i](o, value));
        const npagg_objective before = *o;
        const int32_t bad[] = {-1, last[i] + 1, INT32_MAX, INT32_MIN};
        for (int j = 0; j < 4; j++)
            TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, setters[i](o, bad[j]));
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, setters[i](NULL, 0));
        TEST_ASSERT_EQUAL_MEMORY(&before, o, sizeof before);
    }
    npagg_objective_destroy(o);
}

static void test_samples_below_one_are_refused_and_change_nothing(void)
{
    npagg_objective *o = create(NPAGG_OBJECTIVE_ML);
    ASSERT_OK(ctx, npagg_objective_set_samples(o, 7));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_objective_set_samples(o, 0));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_objective_set_samples(o, -3));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_objective_set_samples(NULL, 3));
    TEST_ASSERT_EQUAL_INT64(7, o->samples);
    npagg_objective_destroy(o);
}

static void test_create_refuses_unknown_kinds_and_null_by_name(void)
{
    npagg_objective *const unmade = (npagg_objective *)&ctx, *out = unmade;
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "kind = -1", npagg_objective_create(ctx, -1, &out));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "kind = 4", npagg_objective_create(ctx, 4, &out));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "out is NULL", npagg_objective_create(ctx, 0, NULL));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_objective_create(NULL, 0, &out));
    TEST_ASSERT_EQUAL_PTR(unmade, out);
    npagg_objective_destroy(NULL);
}

static void test_create_without_memory_leaves_its_output(void)
{
    meter m;
    meter_init(&m);
    npagg_ctx *poor = meter_ctx(&m);
    npagg_objective *const unmade = (npagg_objective *)&m, *out = unmade;
    meter_fail_in(&m, 1, 0);
    ASSERT_FAILS(poor, NPAGG_E_NOMEM, "memory", npagg_objective_create(poor, 0, &out));
    TEST_ASSERT_EQUAL_PTR(unmade, out);
    ASSERT_OK(poor, npagg_objective_create(poor, 0, &out));
    npagg_ctx_destroy(poor);
    npagg_objective_destroy(out);
    ASSERT_BALANCED(&m);
}

/* Numbers for one task: log weights, log p, ratio, and the KL divergence last. */
typedef struct {
    double x[3 * S + 1];
} numbers;

static numbers draw(uint64_t seed)
{
    test_rng rng = {seed};
    numbers n;
    for (int i = 0; i < 3 * S; i++)
        n.x[i] = (i < S ? 0.3 : 3) * rng_normal(&rng) - (i < S ? log(S) : 0);
    n.x[3 * S] = 0.7;
    return n;
}

static np_worth worth_of(const numbers *n)
{
    return (np_worth){S, n->x, n->x + S, n->x + 2 * S, n->x[3 * S]};
}

typedef struct {
    const npagg_objective *objective;
    numbers n;
} subject;

static double value_of(void *user)
{
    subject *s = user;
    const np_worth worth = worth_of(&s->n);
    return np_objective_forward(s->objective, &worth);
}

static void test_value_is_the_formula(void)
{
    for (int32_t kind = 0; kind < KINDS; kind++) {
        npagg_objective *o = create(kind);
        subject s = {o, draw(3)};
        double mean = 0, sum = 0;
        for (int i = 0; i < S; i++) {
            const double ratio = kind == NPAGG_OBJECTIVE_IWAE ? s.n.x[2 * S + i] : 0;
            mean += exp(s.n.x[i]) * s.n.x[S + i];
            sum += exp(s.n.x[i] + s.n.x[S + i] + ratio);
        }
        const int elbo = kind <= NPAGG_OBJECTIVE_ELBO_CLOSED;
        ASSERT_CLOSE(elbo ? mean - 0.7 : log(sum), value_of(&s), 1e-14, 1e-14);
        npagg_objective_destroy(o);
    }
}

static void test_gradient_is_that_of_the_value(void)
{
    for (int32_t kind = 0; kind < KINDS; kind++) {
        npagg_objective *o = create(kind);
        subject s = {o, draw(5)};
        double got[3 * S + 1], want[3 * S + 1];
        np_dworth d = {got, got + S, got + 2 * S, 0};
        const np_worth worth = worth_of(&s.n);
        np_objective_backward(o, &worth, -2.5, &d);
        got[3 * S] = d.kl;
        for (int i = 0; i <= 3 * S; i++)
            want[i] = -2.5 * difference_in(&s.n.x[i], 1e-5, value_of, &s);
        ASSERT_ALL_CLOSE(3 * S + 1, want, got, 1e-9, 1e-10);
        npagg_objective_destroy(o);
    }
}

/* Likelihoods of many points: their logarithms are far below what exp can hold. */
static void test_far_log_likelihoods_do_not_underflow(void)
{
    for (int32_t kind = NPAGG_OBJECTIVE_IWAE; kind < KINDS; kind++)
        for (double shift = -1e6; shift <= 1e6; shift += 2e6) {
            npagg_objective *o = create(kind);
            subject s = {o, draw(7)};
            const double near = value_of(&s);
            double grad[3 * S], sum = 0;
            np_dworth d = {grad, grad + S, grad + 2 * S, 0};
            for (int i = S; i < 2 * S; i++)
                s.n.x[i] += shift;
            ASSERT_CLOSE(near, value_of(&s) - shift, 0, 1e-9);
            const np_worth worth = worth_of(&s.n);
            np_objective_backward(o, &worth, 1, &d);
            for (int i = 0; i < S; i++)
                sum += d.loglik[i];
            ASSERT_CLOSE(1, sum, 1e-9, 0);
            npagg_objective_destroy(o);
        }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_defaults_are_those_of_the_header);
    RUN_TEST(test_setters_out_of_range_are_refused_and_change_nothing);
    RUN_TEST(test_samples_below_one_are_refused_and_change_nothing);
    RUN_TEST(test_create_refuses_unknown_kinds_and_null_by_name);
    RUN_TEST(test_create_without_memory_leaves_its_output);
    RUN_TEST(test_value_is_the_formula);
    RUN_TEST(test_gradient_is_that_of_the_value);
    RUN_TEST(test_far_log_likelihoods_do_not_underflow);
    return UNITY_END();
}
