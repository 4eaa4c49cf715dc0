/*
 * What objectives are on average: sampled divergences, pathwise gradients, and the gradient through
 * mixing weights against enumeration over the components.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "model_call.h"
#include "numbers.h"

static npagg_ctx *ctx;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

enum { COPIES = 2000, ROWS = 5, CONTEXT = 2 };

/* The same task again and again, each time with other noise. */
static model_call *draw_copies(const model_spec *spec, int64_t copies)
{
    int64_t *sizes = calloc((size_t)copies * 2, sizeof *sizes), *n_ctx = sizes + copies;
    TEST_ASSERT_NOT_NULL(sizes);
    for (int64_t b = 0; b < copies; b++) {
        sizes[b] = ROWS;
        n_ctx[b] = CONTEXT;
    }
    model_call *f = model_call_create(ctx, spec, 64, 51, copies, sizes, n_ctx);
    double *x = f->x, *y = f->y, *dloss = f->dloss;
    for (int64_t i = ROWS; i < f->n; i++) {
        x[i] = x[i % ROWS];
        y[i] = y[i % ROWS];
    }
    for (int64_t b = 0; b < copies; b++)
        dloss[b] = 1.0 / (double)copies;
    free(sizes);
    return f;
}

/* The mean of x [n] is at most `errors` standard errors from 0. */
static void check_zero_mean(int64_t n, const double *x, double errors, const char *what)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    const double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    check_close(0, mean, 0, errors * sqrt(squares / (double)(n * (n - 1))) + 1e-13, what, __LINE__);
}

/* The same noise in both, so that the likelihoods cancel. */
static void check_sampled_divergence(const flavour *prior)
{
    model_spec spec = spec_of(prior, NPAGG_OBJECTIVE_ELBO);
    spec.samples = 6;
    model_call *exact = draw_copies(&spec, COPIES);
    spec.kl = NPAGG_KL_SAMPLED;
    model_call *sampled = draw_copies(&spec, COPIES);
    double *difference = zeros_of(COPIES);
    ASSERT_OK(ctx, model_forward(ctx, exact, NULL));
    ASSERT_OK(ctx, model_forward(ctx, sampled, NULL));
    for (int64_t b = 0; b < COPIES; b++)
        difference[b] = model_get(exact, exact->loss, b) - model_get(sampled, sampled->loss, b);
    check_zero_mean(COPIES, difference, 4, model_describe(sampled, "sampled KL"));
    free(difference);
    model_call_destroy(exact);
    model_call_destroy(sampled);
}

static void test_sampled_divergence_is_the_closed_one_on_average(void)
{
    for (int i = 0; i < FLAVOURS; i++)
        if (i != 3)
            check_sampled_divergence(&flavours[i]);
}

/* which from the posterior of whole tasks, what the samples of an elbo come from. */
static void choose(model_call *f)
{
    double *q = zeros_of(f->n_sets * f->q), *u = zeros_of(f->n_sets * f->s);
    ASSERT_OK(
        ctx, npagg_model_infer_f64(ctx, f->model, f->params, f->n_sets, f->offsets, f->x, f->y, q));
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_uniform_fill_f64(3, 1, f->n_sets * f->s, u));
    ASSERT_OK(ctx,
              npagg_posterior_choose_f64(ctx, f->parts.prior, f->n_sets, f->s, q, u, f->which));
    free(q);
    free(u);
}

/* Gradients [COPIES,P] of each copy alone. */
static double *gradients_of_copies(const model_call *f)
{
    double *all = zeros_of(COPIES * f->p);
    for (int64_t b = 0; b < COPIES; b++) {
        model_call *alone = model_call_task(f, b);
        ((double *)alone->dloss)[0] = 1;
        model_run_step(ctx, alone);
        memcpy(all + b * f->p, alone->dparams, (size_t)f->p * sizeof *all);
        model_call_destroy(alone);
    }
    return all;
}

static void test_pathwise_gradient_is_the_chosen_one_on_average(void)
{
    model_spec spec = spec_of(&flavours[2], NPAGG_OBJECTIVE_ELBO);
    spec.samples = 2;
    spec.sampling = NPAGG_SAMPLE_CHOSEN;
    model_call *chosen = draw_copies(&spec, COPIES);
    spec.sampling = NPAGG_SAMPLE_PATHWISE;
    model_call *pathwise = draw_copies(&spec, COPIES);
    double *difference = zeros_of(COPIES), far = 0;
    choose(chosen);
    choose(pathwise);
    double *a = gradients_of_copies(chosen), *b = gradients_of_copies(pathwise);
    for (int64_t j = 0; j < chosen->p; j++) {
        for (int64_t i = 0; i < COPIES; i++) {
            difference[i] = a[i * chosen->p + j] - b[i * chosen->p + j];
            far = fmax(far, fabs(difference[i]));
        }
        check_zero_mean(COPIES, difference, 4.5, model_describe(pathwise, "gradient"));
    }
    TEST_ASSERT_TRUE_MESSAGE(far > 1e-3, "the two gradients should differ draw by draw");
    free(a);
    free(b);
    free(difference);
    model_call_destroy(chosen);
    model_call_destroy(pathwise);
}

enum { K = 3, NODES = 4, TASKS = 2 };

/* The same few noises for every component of every task. */
static model_call *draw_enumerable(int32_t points)
{
    const int64_t sizes[TASKS] = {5, 3}, n_ctx[TASKS] = {3, 1};
    model_spec spec = spec_of(&flavours[2], NPAGG_OBJECTIVE_ELBO);
    spec.points = points;
    spec.samples = K * NODES;
    model_call *f = model_call_create(ctx, &spec, 64, 53, TASKS, sizes, n_ctx);
    double *noise = f->noise;
    for (int64_t i = 0; i < TASKS * K * NODES; i++)
        for (int64_t j = 0; j < f->d; j++)
            noise[i * f->d + j] = 0.8 * (double)((i / K) % NODES) - 1.2 + 0.3 * (double)j;
    return f;
}

/* log p(y_n | x_n, z) summed over the context of task b. */
static double context_loglik(const model_call *f, int64_t b, const double *z)
{
    const double *params = (double *)f->params + npagg_model_param_offset(f->model, "decoder");
    const int64_t from = f->offsets[b], n = f->n_ctx[b], one[2] = {0, n};
    double py[16], loglik[8], sum = 0;
    ASSERT_OK(ctx, npagg_decoder_forward_f64(ctx, f->parts.decoder, params, 1, one, 1,
                                             (double *)f->x + from, z, py, NULL));
    ASSERT_OK(ctx, npagg_decoder_loglik_f64(ctx, f->parts.decoder, n, 1, py, (double *)f->y + from,
                                            loglik));
    for (int64_t i = 0; i < n; i++)
        sum += loglik[i];
    return sum;
}

/* -sum_b dloss_b sum_k w_k mean over nodes of log p(context | z_k(node)): no sampling code. */
static double enumerate(void *user)
{
    const model_call *f = user;
    double q[TASKS * (2 * K * 2 + K)], z[2], value = 0;
    ASSERT_OK(ctx,
              npagg_model_infer_f64(ctx, f->model, f->params, TASKS, f->offsets, f->x, f->y, q));
    for (int64_t b = 0; b < TASKS; b++)
        for (int64_t k = 0; k < K; k++)
            for (int64_t node = 0; node < NODES; node++) {
                const double *mean = q + b * f->q + k * 2, *var = mean + 2 * K;
                for (int j = 0; j < 2; j++)
                    z[j] = mean[j] + sqrt(var[j]) * (0.8 * (double)node - 1.2 + 0.3 * (double)j);
                value -= model_get(f, f->dloss, b) * exp(q[b * f->q + 4 * K + k]) / NODES *
                         context_loglik(f, b, z);
            }
    return value;
}

/* An elbo over all points less one over the targets is E_q of the context's log likelihood. */
static void test_gradient_through_mixing_weights_is_that_of_enumeration(void)
{
    model_call *all = draw_enumerable(NPAGG_POINTS_ALL);
    model_call *targets = draw_enumerable(NPAGG_POINTS_TARGET);
    double *want = zeros_of(all->p), *got = zeros_of(all->p), weights = 0;
    const int64_t logits = npagg_model_param_offset(all->model, "prior.logits");
    model_run_once(ctx, all);
    model_run_once(ctx, targets);
    for (int64_t i = 0; i < all->p; i++) {
        got[i] = model_get(all, all->dparams, i) - model_get(targets, targets->dparams, i);
        want[i] = difference_in((double *)all->params + i, 1e-5, enumerate, all);
    }
    ASSERT_ALL_CLOSE(all->p, want, got, 1e-8, 0);
    for (int64_t k = 0; k < K; k++)
        weights = fmax(weights, fabs(want[logits + k]));
    TEST_ASSERT_TRUE_MESSAGE(weights > 1e-3, "the mixing weights should matter");
    free(want);
    free(got);
    model_call_destroy(all);
    model_call_destroy(targets);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_sampled_divergence_is_the_closed_one_on_average);
    RUN_TEST(test_pathwise_gradient_is_the_chosen_one_on_average);
    RUN_TEST(test_gradient_through_mixing_weights_is_that_of_enumeration);
    return UNITY_END();
}
