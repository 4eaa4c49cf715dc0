/* What must not change a bit of a model's results: threads, companions, the way of the call. */
#include <pthread.h>
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

static const int32_t objectives[] = {NPAGG_OBJECTIVE_ELBO, NPAGG_OBJECTIVE_IWAE,
                                     NPAGG_OBJECTIVE_ML};

/* Several tiles of rows, one long task, an empty one. */
static model_call *draw(const flavour *prior, int32_t objective, int precision)
{
    const int64_t sizes[] = {150, 0, 40, 7, 1, 90}, n_ctx[] = {60, 0, 40, 0, 1, 30};
    model_spec spec = spec_of(prior, objective);
    spec.d = 5;
    spec.width = 17;
    return model_call_create(ctx, &spec, precision, 41, 6, sizes, n_ctx);
}

typedef void (*case_fn)(model_call *f);

static void for_each_case(case_fn fn)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for (int o = 0; o < 3; o++)
            for (int precision = 32; precision <= 64; precision += 32) {
                model_call *f = draw(&flavours[i], objectives[o], precision);
                fn(f);
                model_call_destroy(f);
            }
}

/* What f has now. */
static unsigned char *outputs_of(const model_call *f)
{
    unsigned char *out = malloc(f->out_bytes);
    TEST_ASSERT_NOT_NULL(out);
    memcpy(out, f->out, f->out_bytes);
    return out;
}

static void check_outputs(const model_call *f, const unsigned char *want, const char *what)
{
    check_same_bits((int64_t)f->out_bytes, want, f->out, model_describe(f, what), __LINE__);
}

static void compare_step(model_call *f)
{
    model_run_once(ctx, f);
    unsigned char *want = outputs_of(f);
    model_run_step(ctx, f);
    check_outputs(f, want, "step");
    free(want);
}

static void test_step_gives_the_bits_of_forward_and_backward(void)
{
    for_each_case(compare_step);
}

static void compare_without_cache(model_call *f)
{
    npagg_cache *cache = NULL;
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    memset(f->out, 0, f->out_bytes);
    ASSERT_OK(ctx, model_forward(ctx, f, cache));
    unsigned char *want = outputs_of(f);
    memset(f->out, 0, f->out_bytes);
    ASSERT_OK(ctx, model_forward(ctx, f, NULL));
    check_outputs(f, want, "no cache");
    free(want);
    npagg_cache_destroy(cache);
}

static void test_forward_without_a_cache_gives_the_bits_of_one_with_it(void)
{
    for_each_case(compare_without_cache);
}

static void compare_threads(model_call *f)
{
    const int32_t threads[] = {2, 3, 7};
    model_run_once(ctx, f);
    unsigned char *want = outputs_of(f);
    for (int i = 0; i < 3; i++) {
        npagg_ctx *many = NULL;
        ASSERT_OK(NULL, npagg_ctx_create(&many));
        ASSERT_OK(many, npagg_ctx_set_threads(many, threads[i]));
        model_run_once(many, f);
        check_outputs(f, want, "threads");
        npagg_ctx_destroy(many);
    }
    free(want);
}

static void test_any_number_of_threads_gives_the_same_bits(void)
{
    for_each_case(compare_threads);
}

static void compare_alone(model_call *f)
{
    model_run_once(ctx, f);
    for (int64_t b = 0; b < f->n_sets; b++) {
        model_call *alone = model_call_task(f, b);
        model_run_once(ctx, alone);
        check_same_bits((int64_t)f->real, (unsigned char *)f->loss + (size_t)b * f->real,
                        alone->loss, model_describe(f, "loss of a task alone"), __LINE__);
        model_call_destroy(alone);
    }
}

static void test_a_task_alone_has_the_loss_it_has_among_others_to_the_bit(void)
{
    for_each_case(compare_alone);
}

/* The gradient of a batch is the sum over its tasks, to rounding. */
static void test_gradient_of_a_batch_is_the_sum_over_its_tasks(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++) {
        model_call *f = draw(&flavours[i], NPAGG_OBJECTIVE_ELBO, 64);
        double *sum = zeros_of(f->p);
        for (int64_t b = 0; b < f->n_sets; b++) {
            model_call *alone = model_call_task(f, b);
            model_run_step(ctx, alone);
            for (int64_t j = 0; j < f->p; j++)
                sum[j] += model_get(alone, alone->dparams, j);
            model_call_destroy(alone);
        }
        model_run_step(ctx, f);
        check_all_close(f->p, sum, f->dparams, 1e-12, 0, model_describe(f, "dparams"), __LINE__);
        free(sum);
        model_call_destroy(f);
    }
}

static void test_gradients_are_added(void)
{
    model_call *f = draw(&flavours[3], NPAGG_OBJECTIVE_IWAE, 64);
    model_run_step(ctx, f);
    double *once = copy_of_numbers(f->p, f->dparams);
    for (int64_t j = 0; j < f->p; j++)
        model_put(f, f->dparams, j, 1.5);
    ASSERT_OK(ctx, model_step(ctx, f));
    for (int64_t j = 0; j < f->p; j++)
        once[j] += 1.5;
    ASSERT_SAME_BITS(f->p * 8, once, f->dparams);
    free(once);
    model_call_destroy(f);
}

static void test_a_cache_serves_several_backwards_with_the_same_bits(void)
{
    model_call *f = draw(&flavours[5], NPAGG_OBJECTIVE_IWAE, 32);
    npagg_cache *cache = NULL;
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    model_run(ctx, f, cache);
    unsigned char *want = outputs_of(f);
    for (int i = 0; i < 2; i++) {
        memset(f->dparams, 0, (size_t)f->p * f->real);
        ASSERT_OK(ctx, model_backward(ctx, f, cache));
        check_outputs(f, want, "another backward");
    }
    free(want);
    npagg_cache_destroy(cache);
    model_call_destroy(f);
}

/* Another call on the context between forward and backward, and another context for backward. */
static void test_a_cache_is_all_that_backward_needs(void)
{
    model_call *f = draw(&flavours[3], NPAGG_OBJECTIVE_ELBO, 64);
    model_call *g = draw(&flavours[2], NPAGG_OBJECTIVE_IWAE, 32);
    npagg_ctx *other = NULL;
    npagg_cache *cache = NULL;
    ASSERT_OK(NULL, npagg_ctx_create(&other));
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    model_run_once(ctx, f);
    unsigned char *want = outputs_of(f);
    memset(f->out, 0, f->out_bytes);
    ASSERT_OK(ctx, model_forward(ctx, f, cache));
    model_run_step(ctx, g);
    ASSERT_OK(other, model_backward(other, f, cache));
    check_outputs(f, want, "another context");
    free(want);
    npagg_cache_destroy(cache);
    npagg_ctx_destroy(other);
    model_call_destroy(f);
    model_call_destroy(g);
}

static double *widen(const model_call *f, const void *array, int64_t n)
{
    double *x = zeros_of(n);
    for (int64_t i = 0; i < n; i++)
        x[i] = model_get(f, array, i);
    return x;
}

static void test_f32_is_close_to_f64(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for (int o = 0; o < 3; o++) {
            model_call *f = draw(&flavours[i], objectives[o], 32);
            model_call *g = draw(&flavours[i], objectives[o], 64);
            model_run_step(ctx, f);
            model_run_step(ctx, g);
            double *loss = widen(f, f->loss, f->n_sets), *grad = widen(f, f->dparams, f->p);
            check_all_close(f->n_sets, g->loss, loss, 2e-5, 1e-5, model_describe(f, "loss"),
                            __LINE__);
            check_all_close(f->p, g->dparams, grad, 1e-4, 0, model_describe(f, "dparams"),
                            __LINE__);
            free(loss);
            free(grad);
            model_call_destroy(f);
            model_call_destroy(g);
        }
}

static void test_no_tasks_have_no_losses_and_no_gradient(void)
{
    const model_spec spec = spec_of(&flavours[3], NPAGG_OBJECTIVE_ELBO);
    model_call *f = model_call_create(ctx, &spec, 64, 43, 0, NULL, NULL);
    model_call bare = *f;
    bare.offsets = bare.n_ctx = NULL;
    bare.x = bare.y = bare.noise = bare.dloss = bare.loss = NULL;
    bare.which = NULL;
    model_run_once(ctx, f);
    model_run_once(ctx, &bare);
    model_run_step(ctx, &bare);
    for (int64_t j = 0; j < f->p; j++)
        TEST_ASSERT_EQUAL_DOUBLE(0, model_get(f, f->dparams, j));
    model_call_destroy(f);
}

/* Stratified sampling, and any sampling of one component, does not look at which. */
static void test_which_may_be_null_where_it_is_not_read(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++) {
        model_spec spec = spec_of(&flavours[i], NPAGG_OBJECTIVE_IWAE);
        if (spec.prior->k == 1)
            spec.sampling = NPAGG_SAMPLE_PATHWISE;
        model_call *f = model_call_ragged(ctx, &spec, 64, 45);
        model_run_step(ctx, f);
        unsigned char *want = outputs_of(f);
        model_call bare = *f;
        bare.which = NULL;
        model_run_step(ctx, &bare);
        check_outputs(f, want, "no which");
        free(want);
        model_call_destroy(f);
    }
}

enum { HOSTS = 3, ROUNDS = 4 };

/* One host thread: its own context and arrays, the model of all. */
typedef struct {
    npagg_ctx *ctx;
    model_call *f;
    npagg_status status;
} host;

/* No assertion in here: Unity's jumps must not leave their thread. */
static void *run_host(void *arg)
{
    host *h = arg;
    for (int i = 0; i < ROUNDS && h->status == NPAGG_OK; i++) {
        memset(h->f->out, 0, h->f->out_bytes);
        h->status = model_step(h->ctx, h->f);
    }
    return NULL;
}

static void run_hosts(const model_call *whole)
{
    host hosts[HOSTS] = {0};
    pthread_t running[HOSTS];
    for (int i = 0; i < HOSTS; i++) {
        ASSERT_OK(NULL, npagg_ctx_create(&hosts[i].ctx));
        ASSERT_OK(hosts[i].ctx, npagg_ctx_set_threads(hosts[i].ctx, 1 + i % 2));
        hosts[i].f = model_call_task(whole, 0);
    }
    for (int i = 0; i < HOSTS; i++)
        TEST_ASSERT_EQUAL_INT(0, pthread_create(&running[i], NULL, run_host, &hosts[i]));
    for (int i = 0; i < HOSTS; i++)
        pthread_join(running[i], NULL);
    for (int i = 0; i < HOSTS; i++) {
        ASSERT_OK(hosts[i].ctx, hosts[i].status);
        ASSERT_SAME_MODEL_OUTPUTS(hosts[0].f, hosts[i].f);
        check_same_bits((int64_t)whole->real, whole->loss, hosts[i].f->loss, "loss", __LINE__);
    }
    for (int i = 0; i < HOSTS; i++) {
        model_call_destroy(hosts[i].f);
        npagg_ctx_destroy(hosts[i].ctx);
    }
}

static void test_host_threads_sharing_a_model_get_the_bits_of_one(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++) {
        model_call *f = draw(&flavours[i], NPAGG_OBJECTIVE_ELBO, i % 2 ? 32 : 64);
        model_run_step(ctx, f);
        run_hosts(f);
        model_call_destroy(f);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_step_gives_the_bits_of_forward_and_backward);
    RUN_TEST(test_forward_without_a_cache_gives_the_bits_of_one_with_it);
    RUN_TEST(test_any_number_of_threads_gives_the_same_bits);
    RUN_TEST(test_a_task_alone_has_the_loss_it_has_among_others_to_the_bit);
    RUN_TEST(test_gradient_of_a_batch_is_the_sum_over_its_tasks);
    RUN_TEST(test_gradients_are_added);
    RUN_TEST(test_a_cache_serves_several_backwards_with_the_same_bits);
    RUN_TEST(test_a_cache_is_all_that_backward_needs);
    RUN_TEST(test_f32_is_close_to_f64);
    RUN_TEST(test_which_may_be_null_where_it_is_not_read);
    RUN_TEST(test_host_threads_sharing_a_model_get_the_bits_of_one);
    RUN_TEST(test_no_tasks_have_no_losses_and_no_gradient);
    return UNITY_END();
}
