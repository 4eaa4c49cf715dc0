/* What a set is: order does not count, multiplicity does, what says nothing is not there. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "claim.h"
#include "difference.h"

static npagg_ctx *ctx;

void setUp(void)
{
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

static int64_t *take_rows(int64_t n)
{
    int64_t *rows = malloc(((size_t)n + 1) * sizeof *rows);
    TEST_ASSERT_NOT_NULL(rows);
    return rows;
}

/*
 * Same posteriors, evidence and gradient by the parameters of two problems with the same sets. That
 * gradient is a sum over N rows of either sign, whose rounding grows with N while its value need
 * not.
 */
static void check_same_sets(const problem *p, const result *want, const result *got, double tol)
{
    double tol_sum = tol * (1 + (double)p->n / 100);
    check_posterior(p, want->q, got->q, tol);
    check_logz(p, want->logz, got->logz, tol);
    check_all_close(p->p, want->dparams, got->dparams, tol_sum, tol_sum, describe(p, "dparams"),
                    __LINE__);
}

/*
 * got's rows are want's rows `from`: x [., width]. Gradients of small sets are of order 0.1 to 1,
 * or what cancels to less.
 */
static void check_rows(const problem *p, int64_t width, const double *want, const double *got,
                       int64_t n, const int64_t *from, double tol, const char *what)
{
    double *picked = malloc(((size_t)(n * width) + 1) * sizeof *picked);
    TEST_ASSERT_NOT_NULL(picked);
    for (int64_t i = 0; i < n * width; i++)
        picked[i] = want[from[i / width] * width + i % width];
    check_all_close(n * width, picked, got, tol, 0.1 * tol, describe(p, what), __LINE__);
    free(picked);
}

/* got is of the problem made of rows `from` [n] of p, in the same sets. */
static void check_same_rows(const problem *p, const result *want, const result *got, int64_t n,
                            const int64_t *from, double tol)
{
    check_rows(p, p->d, want->dm, got->dm, n, from, tol, "dm");
    check_rows(p, p->d, want->dv, got->dv, n, from, tol, "dv");
    check_rows(p, 1, want->w, got->w, n, from, tol, "w");
    if (p->weight)
        check_rows(p, 1, want->dweight, got->dweight, n, from, tol, "dweight");
}

static const int64_t same_sets[] = {0, 1, 2};

/* A random order of the rows within each set. */
static int64_t *shuffle(test_rng *rng, const problem *p)
{
    int64_t *rows = take_rows(p->n);
    for (int64_t i = 0; i < p->n; i++)
        rows[i] = i;
    for (int64_t b = 0; b < p->n_sets; b++)
        for (int64_t i = p->offsets[b + 1] - 1; i > p->offsets[b]; i--) {
            int64_t other = rng_int(rng, p->offsets[b], i), row = rows[i];
            rows[i] = rows[other];
            rows[other] = row;
        }
    return rows;
}

static void claim_permuted(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n, int64_t d,
                           int precision)
{
    problem *p = draw_problem(rng, f, n, d, precision, (int)rng_int(rng, 0, 1));
    int64_t *rows = shuffle(rng, p);
    problem *other = problem_pick(p, p->n_sets, same_sets, p->offsets, rows);
    result *want = problem_run(c, p, precision, 0), *got = problem_run(c, other, precision, 0);
    check_same_sets(p, want, got, rounding(p, precision));
    check_same_rows(p, want, got, p->n, rows, rounding(p, precision));
    result_destroy(want);
    result_destroy(got);
    problem_destroy(other);
    free(rows);
    problem_destroy(p);
}

static void test_infer_does_not_depend_on_the_order_of_points(void)
{
    claim_for_all(ctx, 1, claim_permuted);
}

/* Row i of p copies[i] times: their rows, and in offsets [B+1] where the sets now begin. */
static int64_t *repeat_rows(const problem *p, const int *copies, int64_t *offsets)
{
    int64_t *rows = take_rows(2 * p->n), n = 0;
    for (int64_t b = 0; b < p->n_sets; b++) {
        offsets[b] = n;
        for (int64_t i = p->offsets[b]; i < p->offsets[b + 1]; i++)
            for (int copy = 0; copy < copies[i]; copy++)
                rows[n++] = i;
    }
    offsets[p->n_sets] = n;
    return rows;
}

/* x [., width] of the problem with copies, summed over the copies of each row. */
static void check_row_sums(const problem *p, int64_t width, const double *want, const double *got,
                           int64_t n, const int64_t *from, double tol, const char *what)
{
    double *sums = calloc((size_t)(p->n * width) + 1, sizeof *sums);
    TEST_ASSERT_NOT_NULL(sums);
    for (int64_t i = 0; i < n * width; i++)
        sums[from[i / width] * width + i % width] += got[i];
    check_all_close(p->n * width, want, sums, tol, 0.1 * tol, describe(p, what), __LINE__);
    free(sums);
}

static void claim_doubled(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n, int64_t d,
                          int precision)
{
    int64_t offsets[4];
    problem *p = draw_problem(rng, f, n, d, precision, 0);
    double tol = rounding(p, precision);
    int *copies = calloc((size_t)p->n + 1, sizeof *copies);
    for (int64_t i = 0; i < p->n; i++)
        copies[i] = (int)rng_int(rng, 1, 2);
    int64_t *rows = repeat_rows(p, copies, offsets);
    problem *doubled = problem_pick(p, p->n_sets, same_sets, offsets, rows);
    p->weight = calloc((size_t)p->n + 1, sizeof *p->weight);
    for (int64_t i = 0; i < p->n; i++)
        p->weight[i] = copies[i];
    result *want = problem_run(c, p, precision, 0), *got = problem_run(c, doubled, precision, 0);
    check_same_sets(p, want, got, tol);
    check_row_sums(p, d, want->dm, got->dm, doubled->n, rows, tol, "dm");
    check_row_sums(p, d, want->dv, got->dv, doubled->n, rows, tol, "dv");
    check_rows(p, 1, want->w, got->w, doubled->n, rows, tol, "w");
    result_destroy(want);
    result_destroy(got);
    problem_destroy(doubled);
    free(rows);
    free(copies);
    problem_destroy(p);
}

static void test_infer_with_weight_two_is_the_point_twice(void)
{
    claim_for_all(ctx, 2, claim_doubled);
}

static void claim_masked(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n, int64_t d,
                         int precision)
{
    int64_t offsets[4];
    problem *p = draw_problem(rng, f, n, d, precision, 1);
    int *copies = calloc((size_t)p->n + 1, sizeof *copies);
    for (int64_t i = 0; i < p->n; i++)
        copies[i] = p->weight[i] != 0;
    int64_t *rows = repeat_rows(p, copies, offsets);
    problem *fewer = problem_pick(p, p->n_sets, same_sets, offsets, rows);
    result *want = problem_run(c, p, precision, 0), *got = problem_run(c, fewer, precision, 0);
    check_same_sets(p, want, got, rounding(p, precision));
    check_same_rows(p, want, got, fewer->n, rows, rounding(p, precision));
    for (int64_t i = 0; i < p->n; i++)
        TEST_ASSERT_TRUE(copies[i] || want->w[i] == 0);
    result_destroy(want);
    result_destroy(got);
    problem_destroy(fewer);
    free(rows);
    free(copies);
    problem_destroy(p);
}

static void test_infer_with_a_masked_row_is_without_it(void)
{
    claim_for_all(ctx, 3, claim_masked);
}

/* Every third point knows nothing: v = 1e30. */
static void claim_unknowing(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n, int64_t d,
                            int precision)
{
    int64_t offsets[4];
    problem *p = draw_problem(rng, f, n, d, precision, 0);
    int *copies = calloc((size_t)p->n + 1, sizeof *copies);
    for (int64_t i = 0; i < p->n; i++)
        copies[i] = i % 3 != 1;
    for (int64_t j = 0; j < p->n * d; j++)
        p->v[j] = copies[j / d] ? p->v[j] : 1e30;
    drop(&p->dlogz);
    int64_t *rows = repeat_rows(p, copies, offsets);
    problem *fewer = problem_pick(p, p->n_sets, same_sets, offsets, rows);
    result *want = problem_run(c, p, precision, 0), *got = problem_run(c, fewer, precision, 0);
    check_posterior(p, want->q, got->q, rounding(p, precision));
    check_same_rows(p, want, got, fewer->n, rows, rounding(p, precision));
    result_destroy(want);
    result_destroy(got);
    problem_destroy(fewer);
    free(rows);
    free(copies);
    problem_destroy(p);
}

static void test_infer_with_infinite_variance_is_without_the_point(void)
{
    claim_for_all(ctx, 4, claim_unknowing);
}

/* The prior that posterior q of one set would be. */
static void set_prior(problem *p, const double *q)
{
    int64_t kd = p->k * p->d;
    for (int64_t j = 0; j < kd; j++) {
        p->params[j] = q[j];
        p->params[kd + j] = log(q[kd + j]);
    }
    for (int64_t k = 0; p->kind == MIXTURE && k < p->k; k++)
        p->params[2 * kd + k] = q[2 * kd + k];
}

/*
 * Gaussian factors: the sums of two sets add, so inferring one after the other, the first posterior
 * being the second prior, is inferring both; evidences multiply. f64 only, as a prior in between is
 * one more rounding of what float holds.
 */
static void claim_concatenated(npagg_ctx *c, test_rng *rng, const flavour *f, int64_t n, int64_t d,
                               int precision)
{
    if (precision == 32 || f->robust)
        return;
    problem *p = draw_problem(rng, f, n, d, 64, (int)rng_int(rng, 0, 1));
    p->offsets[1] = n / 2;
    p->offsets[2] = p->n;
    problem *first = problem_of_set(p, 0), *second = problem_of_set(p, 1);
    p->offsets[1] = p->n;
    problem *both = problem_of_set(p, 0);
    result *a = problem_run(c, first, 64, 1);
    set_prior(second, a->q);
    result *b = problem_run(c, second, 64, 1), *ab = problem_run(c, both, 64, 1);
    check_posterior(both, ab->q, b->q, 1e-11);
    double logz = a->logz[0] + b->logz[0];
    check_logz(both, ab->logz, &logz, 1e-11);
    result *results[] = {a, b, ab};
    problem *problems[] = {first, second, both, p};
    for (int j = 0; j < 3; j++)
        result_destroy(results[j]);
    for (int j = 0; j < 4; j++)
        problem_destroy(problems[j]);
}

static void test_infer_of_two_sets_in_turn_is_that_of_both_at_once(void)
{
    claim_for_kind(ctx, 5, GAUSSIAN, claim_concatenated);
    claim_for_kind(ctx, 6, MIXTURE, claim_concatenated);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_does_not_depend_on_the_order_of_points);
    RUN_TEST(test_infer_with_weight_two_is_the_point_twice);
    RUN_TEST(test_infer_with_a_masked_row_is_without_it);
    RUN_TEST(test_infer_with_infinite_variance_is_without_the_point);
    RUN_TEST(test_infer_of_two_sets_in_turn_is_that_of_both_at_once);
    return UNITY_END();
}
