/* Objects do not point at each other: they end in any order and serve any context. */
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "stand.h"

void setUp(void)
{
}

void tearDown(void)
{
}

static void test_destroy_of_nothing_is_fine(void)
{
    npagg_ctx_destroy(NULL);
    npagg_cache_destroy(NULL);
    npagg_prior_destroy(NULL);
    npagg_vmp_destroy(NULL);
}

/* Ends the four objects in the order of the permutation with this number, 0..23. */
static void destroy_in_order(stand *s, int permutation)
{
    int left[4] = {0, 1, 2, 3};
    const int fractions[4] = {6, 2, 1, 1};
    for (int i = 0; i < 4; i++) {
        const int at = permutation / fractions[i] % (4 - i), which = left[at];
        for (int j = at; j < 3; j++)
            left[j] = left[j + 1];
        if (which == 0)
            npagg_ctx_destroy(s->ctx), s->ctx = NULL;
        else if (which == 1)
            npagg_cache_destroy(s->cache), s->cache = NULL;
        else if (which == 2)
            npagg_prior_destroy(s->good->prior), s->good->prior = NULL;
        else
            npagg_vmp_destroy(s->good->vmp), s->good->vmp = NULL;
    }
}

static void test_objects_may_be_destroyed_in_any_order(void)
{
    for (int i = 0; i < 24; i++) {
        stand *s = stand_create(&flavours[5], 32, NPAGG_GRAD_IMPLICIT);
        ASSERT_OK(s->ctx, npagg_ctx_set_threads(s->ctx, 1 + i % 2));
        ASSERT_STILL_GOOD(s);
        destroy_in_order(s, i);
        stand_end(&s);
    }
}

static void replace_ctx(stand *s)
{
    npagg_ctx_destroy(s->ctx);
    s->ctx = meter_ctx(&s->meter);
}

static void test_prior_vmp_and_cache_outlive_their_context(void)
{
    for (int i = 0; i < FLAVOURS; i++) {
        stand *s = stand_create(&flavours[i], 64, NPAGG_GRAD_UNROLL);
        replace_ctx(s);
        ASSERT_STILL_GOOD(s);
        stand_end(&s);
    }
}

/* The cache alone joins a forward and its backward, so they may run on different contexts. */
static void test_backward_may_run_on_another_context_than_its_forward(void)
{
    for (int32_t mode = 0; mode < GRAD_MODES; mode++) {
        stand *s = stand_create(&flavours[5], 32, mode);
        inference_run(s->ctx, s->good, s->cache);
        memset(s->good->dm, 0,
               s->good->out_bytes - (size_t)((unsigned char *)s->good->dm - s->good->out));
        replace_ctx(s);
        ASSERT_OK(s->ctx, inference_backward(s->ctx, s->good, s->cache));
        ASSERT_SAME_OUTPUTS(s->want, s->good);
        stand_end(&s);
    }
}

static void test_one_cache_serves_both_precisions_and_all_priors_in_turn(void)
{
    npagg_ctx *ctx = NULL;
    npagg_cache *cache = NULL;
    stand *stands[2 * FLAVOURS];
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    for (int i = 0; i < 2 * FLAVOURS; i++)
        stands[i] = stand_create(&flavours[i / 2], i % 2 ? 32 : 64, i % GRAD_MODES);
    for (int i = 0; i < 4 * FLAVOURS; i++) {
        const stand *s = stands[i * 5 % (2 * FLAVOURS)];
        inference_run(ctx, s->good, cache);
        ASSERT_SAME_OUTPUTS(s->want, s->good);
    }
    for (int i = 0; i < 2 * FLAVOURS; i++)
        stand_end(&stands[i]);
    npagg_cache_destroy(cache);
    npagg_ctx_destroy(ctx);
}

static void *use_on_another_thread(void *arg)
{
    stand *s = arg;
    s->meter.owner = pthread_self();
    npagg_ctx_set_threads(s->ctx, 3);
    inference_run(s->ctx, s->good, s->cache);
    return NULL;
}

/* Unity's jumps must not cross threads: the assertion on the outputs is made here, after the join.
 */
static void test_context_may_move_to_another_thread(void)
{
    stand *s = stand_create(&flavours[3], 32, NPAGG_GRAD_UNROLL);
    pthread_t thread;
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, use_on_another_thread, s));
    TEST_ASSERT_EQUAL_INT(0, pthread_join(thread, NULL));
    s->meter.owner = pthread_self();
    ASSERT_SAME_OUTPUTS(s->want, s->good);
    ASSERT_STILL_GOOD(s);
    stand_end(&s);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_destroy_of_nothing_is_fine);
    RUN_TEST(test_objects_may_be_destroyed_in_any_order);
    RUN_TEST(test_prior_vmp_and_cache_outlive_their_context);
    RUN_TEST(test_backward_may_run_on_another_context_than_its_forward);
    RUN_TEST(test_one_cache_serves_both_precisions_and_all_priors_in_turn);
    RUN_TEST(test_context_may_move_to_another_thread);
    return UNITY_END();
}
