/* float32 within its bound on random problems, also on data it does not like. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "golden_case.h"
#include "rounding.h"

#define PROBLEMS 120

static golden_case current;
static problem *rounded;
static outputs got, exact;

void setUp(void)
{
}

void tearDown(void)
{
    outputs_clear(&got);
    outputs_clear(&exact);
    problem_destroy(rounded);
    rounded = NULL;
    golden_case_clear(&current);
}

/* v from `lowest` to 1; means as far as 100 standard deviations of the prior from its mean. */
static void draw_hard_rows(test_rng *rng, problem *p)
{
    static const double lowest[] = {0.2, 1e-2, 1e-3, 1e-4, 1e-6}, far[] = {0, 0, 3, 100};
    double low = log(lowest[rng_int(rng, 0, 4)]), away = far[rng_int(rng, 0, 3)];
    for (int64_t j = 0; j < p->n * p->d; j++)
        if (isfinite(p->v[j])) {
            p->m[j] += away;
            p->v[j] = exp(rng_uniform(rng, low, 0));
        }
}

/* a0 = b0 = 1e-6 D, c0 = 1e-2 D. */
static void use_paper_values(problem *p)
{
    p->params[p->p - 1] = log(1e-2 * (double)p->d);
    if (p->kind == STUDENT)
        p->params[0] = p->params[1] = log(1e-6 * (double)p->d);
}

static void draw_case(test_rng *rng, golden_case *c)
{
    static const int64_t dims[] = {1, 3, 5, 8, 17, 33, 128},
                         counts[] = {0, 1, 1, 2, 5, 20, 70, 200};
    static const int32_t sweeps[] = {1, 2, 5, 10};
    int64_t sizes[4], d = dims[rng_int(rng, 0, 6)], n_sets = rng_int(rng, 1, 4);
    for (int b = 0; b < n_sets; b++)
        sizes[b] = counts[rng_int(rng, 0, d > 64 ? 5 : 7)];
    c->dialect = &dialects[rng_int(rng, 0, DIALECTS - 1)];
    c->problem = problem_create(rng, c->dialect->kind, c->dialect->robust, d, rng_int(rng, 1, 5),
                                n_sets, sizes, c->dialect->weighted);
    c->problem->max_iters = c->dialect->robust ? sweeps[rng_int(rng, 0, 3)] : 1;
    draw_hard_rows(rng, c->problem);
    if (c->dialect->robust && rng_int(rng, 0, 1))
        use_paper_values(c->problem);
    ASSERT_OK(NULL, npagg_ctx_create(&c->ctx));
    c->prior = problem_prior(c->ctx, c->problem);
}

static void check_case(uint64_t seed)
{
    double change[MAX_OUTPUTS];
    char name[96];
    rounded = rounding_inputs(current.problem);
    golden_case_run(&current, rounded, 32, &got);
    golden_case_run(&current, rounded, 64, &exact);
    rounding_change(&current, rounded, &exact, change);
    for (int a = 0; a < exact.count; a++) {
        const output *e = &exact.list[a];
        snprintf(name, sizeof name, "problem %" PRIu64 ", %sD=%" PRId64 " N=%" PRId64 ": %s", seed,
                 current.dialect->prefix, rounded->d, rounded->n, e->name);
        check_all_close(e->n, e->x, got.list[a].x, 0, rounding_allowed(e, change[a]), name,
                        __LINE__);
    }
}

static void test_infer_f32_of_random_problems_is_within_its_bound(void)
{
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++) {
        test_rng rng = {seed};
        draw_case(&rng, &current);
        check_case(seed);
        tearDown();
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_f32_of_random_problems_is_within_its_bound);
    return UNITY_END();
}
