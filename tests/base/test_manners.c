/* A guest in the host's process: it changes nothing of it and says nothing. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fegetexcept, pthread_setattr_default_np */
#endif
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "check.h"
#include "stand.h"

extern char **environ;

void setUp(void)
{
}

void tearDown(void)
{
}

/* Every kind of call: good and refused, every prior, mode and precision, on one and two threads. */
static void call_everything(void)
{
    for (int i = 0; i < 6 * FLAVOURS; i++) {
        stand *s = stand_create(&flavours[i / 6], i % 2 ? 32 : 64, i % GRAD_MODES);
        inference bad = *s->good;
        double bound[4];
        ASSERT_STILL_GOOD(s);
        ASSERT_OK(s->ctx, npagg_infer_trace(s->ctx, s->cache, 0, bound));
        ASSERT_OK(s->ctx, npagg_ctx_set_threads(s->ctx, 2));
        ASSERT_STILL_GOOD(s);
        bad.m = NULL;
        ASSERT_FORWARD_REFUSED(s, &bad, NPAGG_E_ARG, "m is NULL", "");
        inference_put(s->good, s->good->v, 2, -1);
        ASSERT_FAILS(s->ctx, NPAGG_E_NUMERIC, "v[0,2]", inference_forward(s->ctx, s->good, NULL));
        stand_end(&s);
    }
}

/* Rounding, traps, and on x86 also flush-to-zero: everything but the sticky flags. */
static unsigned control_word(void)
{
    unsigned word = (unsigned)fegetround();
#ifdef __GLIBC__
    word = word << 8 ^ (unsigned)fegetexcept();
#endif
#ifdef __SSE__
    word = word << 16 ^ (_mm_getcsr() & ~0x3fu);
#endif
    return word;
}

static void test_calls_leave_the_floating_point_modes_alone(void)
{
    const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO};
    for (int i = 0; i < 3; i++) {
        TEST_ASSERT_EQUAL_INT(0, fesetround(modes[i]));
        const unsigned before = control_word();
        call_everything();
        const unsigned after = control_word();
        fesetround(FE_TONEAREST);
        TEST_ASSERT_EQUAL_HEX(before, after);
    }
}

/* Other rounding moves last digits, nothing more. */
static void test_infer_under_other_rounding_is_close_to_the_usual(void)
{
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 3 * FLAVOURS; i++) {
        stand *s = stand_create(&flavours[i / 3], 64, NPAGG_GRAD_UNROLL);
        fesetround(modes[i % 3]);
        inference_run(s->ctx, s->good, s->cache);
        fesetround(FE_TONEAREST);
        ASSERT_ALL_CLOSE(s->good->n_sets * s->good->q, s->want->post, s->good->post, 1e-12, 0);
        ASSERT_ALL_CLOSE(s->good->p, s->want->dparams, s->good->dparams, 1e-11, 0);
        ASSERT_ALL_CLOSE(s->good->n * s->good->d, s->want->dm, s->good->dm, 1e-11, 0);
        stand_end(&s);
    }
}

static void test_calls_leave_the_locale_alone(void)
{
    char before[256];
    TEST_ASSERT_NOT_NULL(setlocale(LC_ALL, "C.UTF-8"));
    snprintf(before, sizeof before, "%s", setlocale(LC_ALL, NULL));
    const locale_t thread_locale = uselocale((locale_t)0);
    call_everything();
    TEST_ASSERT_EQUAL_STRING(before, setlocale(LC_ALL, NULL));
    TEST_ASSERT_TRUE(thread_locale == uselocale((locale_t)0));
    setlocale(LC_ALL, "C");
}

static void ignore_signal(int number)
{
    (void)number;
}

static int same_action(const struct sigaction *a, const struct sigaction *b)
{
    return a->sa_flags == b->sa_flags && a->sa_handler == b->sa_handler;
}

static void test_calls_leave_the_signal_handlers_alone(void)
{
    struct sigaction before[32], after;
    struct sigaction mine = {.sa_handler = ignore_signal};
    sigset_t mask_before, mask_after;
    sigaction(SIGUSR2, &mine, NULL);
    for (int i = 1; i < 32; i++)
        sigaction(i, NULL, &before[i]);
    pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
    call_everything();
    pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
    for (int i = 1; i < 32; i++) {
        sigaction(i, NULL, &after);
        TEST_ASSERT_TRUE(same_action(&before[i], &after));
        TEST_ASSERT_EQUAL_INT(sigismember(&mask_before, i), sigismember(&mask_after, i));
    }
    signal(SIGUSR2, SIG_DFL);
}

static volatile sig_atomic_t caught;

static void count_signal(int number)
{
    (void)number;
    caught++;
}

/* A host that blocks a signal on its own thread, to take it later, must not lose it to a worker. */
static void test_workers_take_no_signals_of_the_host(void)
{
    npagg_ctx *ctx = NULL;
    sigset_t usr1, old, pending;
    struct sigaction mine = {.sa_handler = count_signal};
    sigaction(SIGUSR1, &mine, NULL);
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_ctx_set_threads(ctx, 3));
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, &old);
    caught = 0;
    kill(getpid(), SIGUSR1);
    usleep(50000);
    sigpending(&pending);
    const int stolen = caught, waiting = sigismember(&pending, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    npagg_ctx_destroy(ctx);
    signal(SIGUSR1, SIG_DFL);
    TEST_ASSERT_EQUAL_INT(0, stolen);
    TEST_ASSERT_EQUAL_INT(1, waiting);
}

static uint64_t hash_environment(void)
{
    uint64_t hash = (uint64_t)(uintptr_t)environ;
    for (char **e = environ; *e; e++)
        for (const char *c = *e; *c; c++)
            hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    return hash;
}

static void test_calls_leave_the_environment_alone(void)
{
    const uint64_t before = hash_environment();
    call_everything();
    TEST_ASSERT_EQUAL_HEX64(before, hash_environment());
}

/* Where standard output and error end up while f runs; returns the bytes written there. */
static long count_output(void (*f)(void))
{
    fflush(NULL);
    FILE *sink = tmpfile();
    TEST_ASSERT_NOT_NULL(sink);
    const int out = dup(1), err = dup(2);
    dup2(fileno(sink), 1);
    dup2(fileno(sink), 2);
    f();
    fflush(NULL);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    fseek(sink, 0, SEEK_END);
    const long bytes = ftell(sink);
    fclose(sink);
    return bytes;
}

static void test_calls_print_nothing(void)
{
    TEST_ASSERT_EQUAL_INT64(0, count_output(call_everything));
}

static void test_threads_start_only_when_asked_and_end_with_their_context(void)
{
    const long before = count_threads();
    if (before < 0)
        TEST_IGNORE_MESSAGE("this system does not tell how many threads run");
    stand *s = stand_create(&flavours[5], 32, NPAGG_GRAD_UNROLL);
    ASSERT_STILL_GOOD(s);
    TEST_ASSERT_EQUAL_INT64(before, count_threads());
    ASSERT_OK(s->ctx, npagg_ctx_set_threads(s->ctx, 5));
    ASSERT_STILL_GOOD(s);
    TEST_ASSERT_EQUAL_INT64(before + 4, count_threads());
    ASSERT_OK(s->ctx, npagg_ctx_set_threads(s->ctx, 2));
    TEST_ASSERT_EQUAL_INT64(before + 1, count_threads());
    ASSERT_OK(s->ctx, npagg_ctx_set_threads(s->ctx, 5));
    stand_end(&s);
    TEST_ASSERT_EQUAL_INT64(before, count_threads());
}

#ifdef __GLIBC__
/* Stacks beyond the address space: the system gives no thread. */
static void test_threads_that_the_system_does_not_give_change_nothing(void)
{
    pthread_attr_t usual, greedy;
    stand *s = stand_create(&flavours[3], 64, NPAGG_GRAD_UNROLL);
    ASSERT_OK(s->ctx, npagg_ctx_set_threads(s->ctx, 2));
    pthread_getattr_default_np(&usual);
    pthread_getattr_default_np(&greedy);
    pthread_attr_setstacksize(&greedy, (size_t)1 << 48);
    TEST_ASSERT_EQUAL_INT(0, pthread_setattr_default_np(&greedy));
    const long threads = count_threads();
    const npagg_status status = npagg_ctx_set_threads(s->ctx, 4);
    pthread_setattr_default_np(&usual);
    pthread_attr_destroy(&usual);
    pthread_attr_destroy(&greedy);
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_UNSUP, status);
    ASSERT_ERROR_HAS(s->ctx, "threads");
    TEST_ASSERT_EQUAL_INT64(threads, count_threads());
    ASSERT_STILL_GOOD(s);
    ASSERT_OK(s->ctx, npagg_ctx_set_threads(s->ctx, 4));
    ASSERT_STILL_GOOD(s);
    stand_end(&s);
}
#endif

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_calls_leave_the_floating_point_modes_alone);
    RUN_TEST(test_infer_under_other_rounding_is_close_to_the_usual);
    RUN_TEST(test_calls_leave_the_locale_alone);
    RUN_TEST(test_calls_leave_the_signal_handlers_alone);
    RUN_TEST(test_workers_take_no_signals_of_the_host);
    RUN_TEST(test_calls_leave_the_environment_alone);
    RUN_TEST(test_calls_print_nothing);
    RUN_TEST(test_threads_start_only_when_asked_and_end_with_their_context);
#ifdef __GLIBC__
    RUN_TEST(test_threads_that_the_system_does_not_give_change_nothing);
#endif
    return UNITY_END();
}
