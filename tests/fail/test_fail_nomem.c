/*
 * The n-th allocation fails, for every n, once or from then on, in every public call:
 * NPAGG_E_NOMEM, nothing leaked, outputs and handles as before, and the next call gives the
 * undisturbed bits.
 */
#include <math.h>

#include "check.h"
#include "inference.h"
#include "meter.h"
#include "stand.h"

void setUp(void)
{
}

void tearDown(void)
{
}

typedef npagg_status (*action)(npagg_ctx *ctx, const inference *f, npagg_cache *cache);

/* One problem, how to run it, and what it gives undisturbed. */
typedef struct {
    const problem *problem;
    const problem
        *before; /* run once on the same context and cache, so that they must grow; or NULL */
    int precision;
    int32_t threads;
    action act; /* inference_forward, inference_backward */
    const inference *want;
} scene;

/* What one attempt works on. */
typedef struct {
    meter meter;
    npagg_ctx *ctx, *other; /* other: for the forward before a backward, so that ctx stays cold */
    npagg_cache *cache;
    inference *f;
} props;

static void run_before(const scene *sc, props *p)
{
    if (sc->before) {
        inference *small = inference_create(p->ctx, sc->before, sc->precision);
        inference_run(p->ctx, small, p->cache);
        inference_destroy(small);
    }
    if (sc->act == inference_backward)
        ASSERT_OK(p->other, inference_forward(p->other, p->f, p->cache));
}

static void set_up_props(const scene *sc, props *p)
{
    meter_init(&p->meter);
    p->ctx = meter_ctx(&p->meter);
    p->other = meter_ctx(&p->meter);
    ASSERT_OK(p->ctx, npagg_ctx_set_threads(p->ctx, sc->threads));
    ASSERT_OK(p->ctx, npagg_cache_create(p->ctx, &p->cache));
    p->f = inference_create(p->ctx, sc->problem, sc->precision);
    run_before(sc, p);
    inference_poison(p->f);
}

static void tear_down_props(props *p)
{
    inference_destroy(p->f);
    npagg_cache_destroy(p->cache);
    npagg_ctx_destroy(p->ctx);
    npagg_ctx_destroy(p->other);
    ASSERT_BALANCED(&p->meter);
}

static void check_failure(const scene *sc, props *p, npagg_status status)
{
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_NOMEM, status);
    TEST_ASSERT_TRUE(npagg_ctx_error(p->ctx)[0] != '\0');
    ASSERT_UNTOUCHED(p->f);
    ASSERT_CACHE_EMPTY(p->ctx, p->cache);
    inference_run(p->ctx, p->f, p->cache);
    ASSERT_SAME_OUTPUTS(sc->want, p->f);
}

/* 1 if there was an n-th allocation. */
static int attempt(const scene *sc, int64_t n, int forever)
{
    props p;
    set_up_props(sc, &p);
    meter_fail_in(&p.meter, n, forever);
    npagg_status status = sc->act(p.ctx, p.f, p.cache);
    const int failed = p.meter.failed > 0;
    meter_never_fail(&p.meter);
    if (failed)
        check_failure(sc, &p, status);
    else
        TEST_ASSERT_EQUAL_INT32(NPAGG_OK, status);
    tear_down_props(&p);
    return failed;
}

static void fail_each_allocation(const scene *sc)
{
    int64_t n = 1;
    while (attempt(sc, n, 0) | attempt(sc, n, 1))
        n++;
    TEST_ASSERT_GREATER_THAN_INT64_MESSAGE(1, n, "no allocation was there to fail");
}

static void fail_each_allocation_both_ways(scene *sc)
{
    npagg_ctx *ctx = NULL;
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    inference *want = inference_create(ctx, sc->problem, sc->precision);
    inference_run_once(ctx, want);
    sc->want = want;
    sc->act = inference_forward;
    fail_each_allocation(sc);
    sc->act = inference_backward;
    fail_each_allocation(sc);
    inference_destroy(want);
    npagg_ctx_destroy(ctx);
}

static problem *make_problem(const flavour *kind, int64_t n, int32_t mode)
{
    const int64_t sizes[] = {n, 0, 2};
    test_rng rng = {11};
    problem *p = problem_create(&rng, kind->kind, kind->robust, 4, kind->k, 3, sizes, 1);
    p->max_iters = 3;
    p->grad = mode;
    return p;
}

static void run_scene(const flavour *kind, int32_t mode, int precision, int32_t threads, int grow)
{
    problem *large = make_problem(kind, 40, mode), *small = make_problem(kind, 3, mode);
    scene sc = {.problem = large, .precision = precision, .threads = threads};
    sc.before = grow ? small : NULL;
    fail_each_allocation_both_ways(&sc);
    problem_destroy(large);
    problem_destroy(small);
}

static void test_infer_survives_every_failing_allocation_on_a_new_context(void)
{
    for (int i = 0; i < FLAVOURS; i++)
        for (int32_t mode = 0; mode < GRAD_MODES; mode++)
            run_scene(&flavours[i], mode, mode == 1 ? 64 : 32, 1, 0);
}

static void test_infer_survives_every_failing_allocation_of_a_growing_context(void)
{
    for (int i = 0; i < FLAVOURS; i++)
        for (int32_t mode = 0; mode < GRAD_MODES; mode++)
            run_scene(&flavours[i], mode, mode == 1 ? 32 : 64, 1, 1);
}

static void test_infer_on_threads_survives_every_failing_allocation(void)
{
    for (int32_t mode = 0; mode < GRAD_MODES; mode++)
        run_scene(&flavours[5], mode, 32, 3, mode % 2);
}

/* Sets that an implicit backward has to unroll. */
static int count_fallbacks(const problem *p)
{
    int count = 0;
    npagg_ctx *ctx = NULL;
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    result *r = problem_run(ctx, p, 64, 1);
    for (int64_t b = 0; b < p->n_sets; b++)
        count += r->grad_iters[b] == -1;
    result_destroy(r);
    npagg_ctx_destroy(ctx);
    return count;
}

static void test_infer_falling_back_from_implicit_survives_every_failing_allocation(void)
{
    problem *p = make_problem(&flavours[5], 40, NPAGG_GRAD_IMPLICIT);
    problem_leave_fixed_point(p);
    TEST_ASSERT_GREATER_THAN_INT(0, count_fallbacks(p));
    scene sc = {.problem = p, .precision = 64, .threads = 1};
    fail_each_allocation_both_ways(&sc);
    sc.precision = 32, sc.threads = 2;
    fail_each_allocation_both_ways(&sc);
    problem_destroy(p);
}

/* No adjoint of a NaN converges: that set falls back, the large one does not and must wait for it.
 */
static void test_infer_falling_back_for_one_set_survives_every_failing_allocation(void)
{
    problem *p = make_problem(&flavours[5], 40, NPAGG_GRAD_IMPLICIT);
    p->max_iters = 5;
    p->dq[2 * p->q] = (double)NAN;
    TEST_ASSERT_EQUAL_INT(1, count_fallbacks(p));
    scene sc = {.problem = p, .precision = 64, .threads = 1};
    fail_each_allocation_both_ways(&sc);
    problem_destroy(p);
}

typedef npagg_status (*maker)(npagg_ctx *ctx, void **out);
typedef void (*ender)(void *object);

static npagg_status make_cache(npagg_ctx *ctx, void **out)
{
    npagg_cache *made = *out;
    npagg_status status = npagg_cache_create(ctx, &made);
    *out = made;
    return status;
}

static npagg_status make_vmp(npagg_ctx *ctx, void **out)
{
    npagg_vmp *made = *out;
    npagg_status status = npagg_vmp_create(ctx, &made);
    *out = made;
    return status;
}

static npagg_status make_gaussian(npagg_ctx *ctx, void **out)
{
    npagg_prior *made = *out;
    npagg_status status = npagg_prior_create_gaussian(ctx, 3, &made);
    *out = made;
    return status;
}

static npagg_status make_mixture(npagg_ctx *ctx, void **out)
{
    npagg_prior *made = *out;
    npagg_status status = npagg_prior_create_mixture(ctx, 3, 2, &made);
    *out = made;
    return status;
}

static npagg_status make_student(npagg_ctx *ctx, void **out)
{
    npagg_prior *made = *out;
    npagg_status status = npagg_prior_create_student(ctx, 3, &made);
    *out = made;
    return status;
}

static void end_cache(void *object)
{
    npagg_cache_destroy(object);
}

static void end_vmp(void *object)
{
    npagg_vmp_destroy(object);
}

static void end_prior(void *object)
{
    npagg_prior_destroy(object);
}

/* 1 if there was an n-th allocation. */
static int attempt_create(maker make, ender end, int64_t n)
{
    meter m;
    int unmade;
    void *out = &unmade;
    meter_init(&m);
    npagg_ctx *ctx = meter_ctx(&m);
    meter_fail_in(&m, n, 0);
    npagg_status status = make(ctx, &out);
    const int failed = m.failed > 0;
    if (failed) {
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_NOMEM, status);
        TEST_ASSERT_EQUAL_PTR(&unmade, out);
        TEST_ASSERT_TRUE(npagg_ctx_error(ctx)[0] != '\0');
        ASSERT_OK(ctx, make(ctx, &out));
    }
    end(out);
    npagg_ctx_destroy(ctx);
    ASSERT_BALANCED(&m);
    return failed;
}

static void test_create_survives_every_failing_allocation(void)
{
    const maker makers[] = {make_cache, make_vmp, make_gaussian, make_mixture, make_student};
    const ender enders[] = {end_cache, end_vmp, end_prior, end_prior, end_prior};
    for (int i = 0; i < 5; i++) {
        int64_t n = 1;
        while (attempt_create(makers[i], enders[i], n))
            n++;
        TEST_ASSERT_GREATER_THAN_INT64(1, n);
    }
}

static void test_ctx_create_survives_every_failing_allocation(void)
{
    int64_t n = 0;
    npagg_status status;
    do {
        meter m;
        meter_init(&m);
        npagg_ctx *const unmade = (npagg_ctx *)&m;
        npagg_ctx *ctx = unmade;
        meter_fail_in(&m, ++n, 0);
        status = npagg_ctx_create_with_alloc(&ctx, meter_alloc, &m);
        TEST_ASSERT_EQUAL_INT32(m.failed ? NPAGG_E_NOMEM : NPAGG_OK, status);
        TEST_ASSERT_EQUAL_INT(m.failed > 0, ctx == unmade);
        if (status == NPAGG_OK)
            npagg_ctx_destroy(ctx);
        ASSERT_BALANCED(&m);
    } while (status != NPAGG_OK);
    TEST_ASSERT_GREATER_THAN_INT64(1, n);
}

static int attempt_set_threads(int32_t from, int32_t to, int64_t n)
{
    stand *s = stand_create(&flavours[3], 32, NPAGG_GRAD_UNROLL);
    ASSERT_OK(s->ctx, npagg_ctx_set_threads(s->ctx, from));
    const long threads = count_threads();
    meter_fail_in(&s->meter, n, 0);
    npagg_status status = npagg_ctx_set_threads(s->ctx, to);
    const int failed = s->meter.failed > 0;
    meter_never_fail(&s->meter);
    TEST_ASSERT_EQUAL_INT32(failed ? NPAGG_E_NOMEM : NPAGG_OK, status);
    if (failed)
        TEST_ASSERT_EQUAL_INT64(threads, count_threads());
    ASSERT_STILL_GOOD(s);
    ASSERT_OK(s->ctx, npagg_ctx_set_threads(s->ctx, to));
    ASSERT_STILL_GOOD(s);
    stand_end(&s);
    return failed;
}

static void test_set_threads_survives_every_failing_allocation(void)
{
    const int32_t steps[][2] = {{1, 2}, {1, 7}, {2, 5}, {5, 2}};
    for (int i = 0; i < 4; i++) {
        int64_t n = 1;
        while (attempt_set_threads(steps[i][0], steps[i][1], n))
            n++;
        TEST_ASSERT_GREATER_THAN_INT64(1, n);
    }
}

/* These may well need no memory at all; if they do, they must cope without. */
static int attempt_params(int64_t n)
{
    stand *s = stand_create(&flavours[3], 64, NPAGG_GRAD_UNROLL);
    const inference *f = s->good;
    inference_poison(f);
    meter_fail_in(&s->meter, n, 0);
    npagg_status status = npagg_prior_init_params_f64(s->ctx, f->prior, 1, f->dparams);
    if (status == NPAGG_OK) {
        inference_poison(f);
        status = npagg_prior_constrained_f64(s->ctx, f->prior, f->params, f->dparams);
    }
    const int failed = s->meter.failed > 0;
    meter_never_fail(&s->meter);
    TEST_ASSERT_EQUAL_INT32(failed ? NPAGG_E_NOMEM : NPAGG_OK, status);
    if (failed)
        ASSERT_UNTOUCHED(f);
    ASSERT_STILL_GOOD(s);
    stand_end(&s);
    return failed;
}

static void test_prior_params_survive_every_failing_allocation(void)
{
    int64_t n = 1;
    while (attempt_params(n))
        n++;
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_survives_every_failing_allocation_on_a_new_context);
    RUN_TEST(test_infer_survives_every_failing_allocation_of_a_growing_context);
    RUN_TEST(test_infer_on_threads_survives_every_failing_allocation);
    RUN_TEST(test_infer_falling_back_from_implicit_survives_every_failing_allocation);
    RUN_TEST(test_infer_falling_back_for_one_set_survives_every_failing_allocation);
    RUN_TEST(test_create_survives_every_failing_allocation);
    RUN_TEST(test_ctx_create_survives_every_failing_allocation);
    RUN_TEST(test_set_threads_survives_every_failing_allocation);
    RUN_TEST(test_prior_params_survive_every_failing_allocation);
    return UNITY_END();
}
