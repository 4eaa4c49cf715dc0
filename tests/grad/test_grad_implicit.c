/*
 * Implicit gradients: at the fixed point they are those of the unrolled sweeps; where the library
 * says -1 it unrolled, and then they are the unrolled ones to the bit.
 */
#include <math.h>

#include "check.h"
#include "claim.h"
#include "difference.h"
#include "oracle.h"

static npagg_ctx *ctx;

void setUp(void)
{
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

typedef struct {
    prior_kind kind;
    int robust;
    int64_t k;
} model;

#define N_ITERATED 5
static const model iterated[N_ITERATED] = {
    {GAUSSIAN, 1, 1}, {MIXTURE, 1, 1}, {MIXTURE, 1, 3}, {STUDENT, 0, 1}, {STUDENT, 1, 1}};

static problem *draw(test_rng *rng, const model *m, int64_t n_sets, const int64_t *sizes,
                     int weighted)
{
    int64_t d = rng_int(rng, 1, 5);
    problem *p = problem_create(rng, m->kind, m->robust, d, m->k, n_sets, sizes, weighted);
    p->grad = NPAGG_GRAD_IMPLICIT;
    p->max_iters = 100000;
    p->tol = 1e-13;
    return p;
}

/* The same problem, unrolled. */
static result *run_unrolled(const problem *p)
{
    problem *c = problem_copy(p);
    c->grad = NPAGG_GRAD_UNROLL;
    result *r = problem_run(ctx, c, 64, 0);
    problem_destroy(c);
    return r;
}

static void check_converged(const problem *p, const result *r)
{
    for (int64_t b = 0; b < p->n_sets; b++) {
        TEST_ASSERT_TRUE_MESSAGE(r->residual[b] <= 1e-13, describe(p, "not converged"));
        TEST_ASSERT_TRUE_MESSAGE(r->grad_iters[b] >= 0, describe(p, "fell back"));
        TEST_ASSERT_TRUE_MESSAGE(r->grad_iters[b] <= 100, describe(p, "adjoint sweeps"));
    }
}

static void check_is_unrolled_at_convergence(const problem *p)
{
    result *implicit = problem_run(ctx, p, 64, 0), *unrolled = run_unrolled(p);
    check_converged(p, implicit);
    check_same_gradient(p, unrolled, implicit, 1e-8);
    result_destroy(implicit);
    result_destroy(unrolled);
}

static void check_cotangents(problem *p)
{
    check_is_unrolled_at_convergence(p);
    problem *without = problem_copy(p);
    drop(&without->dlogz);
    check_is_unrolled_at_convergence(without);
    problem_destroy(without);
    drop(&p->dq);
    check_is_unrolled_at_convergence(p);
    problem_destroy(p);
}

static void test_implicit_gradient_is_unrolled_at_convergence(void)
{
    static const int64_t sizes[] = {4, 7, 5};
    test_rng rng = {1};
    for (int j = 0; j < N_ITERATED; j++)
        for (int draws = 0; draws < 10; draws++)
            check_cotangents(draw(&rng, &iterated[j], 3, sizes, draws % 2));
}

/* All sets unrolled, each to the bit; over several sets dparams is added up in another order. */
static void check_fell_back(const problem *p)
{
    for (int64_t b = 0; b < p->n_sets; b++) {
        problem *alone = problem_of_set(p, b);
        result *implicit = problem_run(ctx, alone, 64, 0), *unrolled = run_unrolled(alone);
        TEST_ASSERT_EQUAL_INT32_MESSAGE(-1, implicit->grad_iters[0], describe(p, "grad_iters"));
        check_same_gradient_bits(alone, unrolled, implicit);
        result_destroy(implicit);
        result_destroy(unrolled);
        problem_destroy(alone);
    }
    result *implicit = problem_run(ctx, p, 64, 0), *unrolled = run_unrolled(p);
    check_same_gradient(p, unrolled, implicit, 1e-14);
    result_destroy(implicit);
    result_destroy(unrolled);
}

static void test_implicit_gradient_of_one_sweep_falls_back_to_unrolled(void)
{
    static const int64_t sizes[] = {4, 0, 5};
    test_rng rng = {2};
    for (int j = 0; j < N_ITERATED; j++)
        for (int weighted = 0; weighted < 2; weighted++) {
            problem *p = draw(&rng, &iterated[j], 3, sizes, weighted);
            p->max_iters = 1;
            check_fell_back(p);
            problem_destroy(p);
        }
}

static double residual_after(problem *p, int32_t sweeps)
{
    int32_t before = p->max_iters;
    p->max_iters = sweeps;
    oracle *o = oracle_run(p);
    double residual = o->residual[0];
    oracle_destroy(o);
    p->max_iters = before;
    return residual;
}

/* A single set between two clusters whose residual is larger after the last sweep than before. */
static problem *find_growing(test_rng *rng)
{
    static const int64_t size = 6;
    for (int attempt = 0; attempt < 10000; attempt++) {
        problem *p = draw(rng, &iterated[4], 1, &size, 0);
        p->tol = 0;
        p->params[2] = log(0.05);
        for (int64_t j = 0; j < p->n * p->d; j++)
            p->m[j] += j / p->d < 3 ? 4 : -4;
        for (p->max_iters = 3; p->max_iters < 12; p->max_iters++)
            if (residual_after(p, p->max_iters) > 1.05 * residual_after(p, p->max_iters - 1))
                return p;
        problem_destroy(p);
    }
    TEST_FAIL_MESSAGE("no set whose residual grows");
    return NULL;
}

static void test_implicit_gradient_of_sweeps_that_do_not_contract_falls_back_to_unrolled(void)
{
    test_rng rng = {3};
    for (int found = 0; found < 20; found++) {
        problem *p = find_growing(&rng);
        check_fell_back(p);
        problem_destroy(p);
    }
}

static void test_implicit_gradient_of_an_exact_prior_is_unrolled_to_the_bit(void)
{
    static const int64_t sizes[] = {4, 0, 5};
    static const model exact[] = {{GAUSSIAN, 0, 1}, {MIXTURE, 0, 1}, {MIXTURE, 0, 3}};
    test_rng rng = {4};
    for (int j = 0; j < 3; j++)
        for (int weighted = 0; weighted < 2; weighted++) {
            problem *p = draw(&rng, &exact[j], 3, sizes, weighted);
            result *implicit = problem_run(ctx, p, 64, 0), *unrolled = run_unrolled(p);
            check_same_gradient_bits(p, unrolled, implicit);
            result_destroy(implicit);
            result_destroy(unrolled);
            problem_destroy(p);
        }
}

/*
 * Fixed point of an empty set: E[alpha] = a0/b0, var = b0/a0. The sweeps stop within 1e-13 / (1 -
 * rate) of it, at most 1e-11 here, and the adjoint within 1e-10.
 */
static void check_empty_set(problem *p)
{
    result *r = problem_run(ctx, p, 64, 0);
    double var = exp(p->params[1] - p->params[0]), slope = 0;
    for (int64_t j = 0; j < p->d; j++)
        slope += p->dq[p->d + j] * var;
    const double want[3] = {-slope, slope, 0};
    if (r->grad_iters[0] == -1)
        check_fell_back(p);
    else
        check_all_close(p->p, want, r->dparams, 1e-9, 0, describe(p, "dparams"), __LINE__);
    result_destroy(r);
    problem_destroy(p);
}

static problem *draw_empty(test_rng *rng, int robust)
{
    static const int64_t size = 0;
    problem *p = draw(rng, &(model){STUDENT, robust, 1}, 1, &size, 0);
    drop(&p->dlogz);
    return p;
}

static void test_implicit_gradient_of_an_empty_set_is_the_closed_form_or_falls_back(void)
{
    test_rng rng = {5};
    for (int draws = 0; draws < 100; draws++)
        check_empty_set(draw_empty(&rng, draws % 2));
}

static void set_paper_params(problem *p)
{
    p->params[0] = p->params[1] = log(1e-6 * (double)p->d);
    if (p->robust)
        p->params[2] = log(1e-2 * (double)p->d);
}

static void test_implicit_gradient_of_an_empty_set_with_the_papers_prior(void)
{
    test_rng rng = {6};
    for (int draws = 0; draws < 20; draws++) {
        problem *p = draw_empty(&rng, draws % 2);
        set_paper_params(p);
        check_empty_set(p);
    }
}

/*
 * A set whose sweeps contract at a rate r ends within 1e-13 / (1 - r) of its fixed point, in
 * standard deviations. 1000 sweeps to get there mean r < 0.98: the difference divides 5e-12 by 1e-5
 * and 1e-5 of the slope is safe. Slower sets are close to where their fixed point jumps to another
 * one, which a difference may step across; unrolled sweeps do not, they err by 1e-13 / (1 - r)^2.
 */
static void check_paper_set(test_rng *rng, problem *p)
{
    result *r = problem_run(ctx, p, 64, 0);
    TEST_ASSERT_TRUE_MESSAGE(r->residual[0] <= 1e-13, describe(p, "not converged"));
    if (r->grad_iters[0] == -1) {
        check_fell_back(p);
    } else if (r->iters[0] <= 1000) {
        check_directions(rng, p, r, loss_of_library, ctx, 1e-5, 1e-5);
    } else {
        result *unrolled = run_unrolled(p);
        check_same_gradient(p, unrolled, r, 1e-6);
        result_destroy(unrolled);
    }
    result_destroy(r);
    problem_destroy(p);
}

static void test_implicit_gradient_with_the_papers_prior_is_that_of_the_fixed_point(void)
{
    test_rng rng = {7};
    for (int draws = 0; draws < 40; draws++) {
        int64_t size = rng_int(&rng, 3, 20);
        problem *p = draw(&rng, &iterated[4], 1, &size, 0);
        set_paper_params(p);
        if (draws % 2)
            drop(&p->dlogz);
        check_paper_set(&rng, p);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_implicit_gradient_is_unrolled_at_convergence);
    RUN_TEST(test_implicit_gradient_of_one_sweep_falls_back_to_unrolled);
    RUN_TEST(test_implicit_gradient_of_sweeps_that_do_not_contract_falls_back_to_unrolled);
    RUN_TEST(test_implicit_gradient_of_an_exact_prior_is_unrolled_to_the_bit);
    RUN_TEST(test_implicit_gradient_of_an_empty_set_is_the_closed_form_or_falls_back);
    RUN_TEST(test_implicit_gradient_of_an_empty_set_with_the_papers_prior);
    RUN_TEST(test_implicit_gradient_with_the_papers_prior_is_that_of_the_fixed_point);
    return UNITY_END();
}
