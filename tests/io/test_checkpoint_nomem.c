/* Checkpoints without memory or room: a status, the old file, outputs as before, nothing leaked. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "check.h"
#include "folder.h"
#include "meter.h"
#include "model/model.h"
#include "shapes.h"

static folder room;
static const char *path;
static npagg_ctx *ctx; /* has memory */
static npagg_model *model;
static float *params, *other;
static blob old; /* what is in the file before every attempt */

void setUp(void)
{
    folder_create(&room);
    path = folder_path(&room, "x");
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    model = shape_create(ctx, &shapes[1]);
    params = draw_floats(1, model->p);
    other = draw_floats(2, model->p);
    ASSERT_OK(ctx, npagg_model_save_f32(ctx, model, params, path));
    ASSERT_OK(ctx, npagg_model_save_extra_f32(ctx, path, "extra", model->p, params));
    old = blob_read(path);
}

void tearDown(void)
{
    blob_free(&old);
    free(params), free(other);
    npagg_model_destroy(model);
    npagg_ctx_destroy(ctx);
    folder_destroy(&room);
}

/* What one call writes, besides the file. */
typedef struct {
    npagg_model *model;
    float *array; /* [P] */
} output;

typedef npagg_status (*action)(npagg_ctx *c, output *out);

static npagg_status do_save(npagg_ctx *c, output *out)
{
    (void)out;
    return npagg_model_save_f32(c, model, other, path);
}

static npagg_status do_save_extra(npagg_ctx *c, output *out)
{
    (void)out;
    return npagg_model_save_extra_f32(c, path, "extra", model->p, other);
}

static npagg_status do_load(npagg_ctx *c, output *out)
{
    return npagg_model_load(c, path, &out->model);
}

static npagg_status do_load_params(npagg_ctx *c, output *out)
{
    return npagg_model_load_params_f32(c, model, path, out->array);
}

static npagg_status do_load_extra(npagg_ctx *c, output *out)
{
    return npagg_model_load_extra_f32(c, path, "extra", model->p, out->array);
}

static const action actions[] = {do_save, do_save_extra, do_load, do_load_params, do_load_extra};
enum { ACTIONS = sizeof actions / sizeof actions[0] };

static void check_unchanged(const output *out)
{
    float *before = draw_floats(3, model->p);
    blob now = blob_read(path);
    TEST_ASSERT_EQUAL_size_t(old.size, now.size);
    TEST_ASSERT_EQUAL_MEMORY(old.data, now.data, old.size);
    ASSERT_SAME_BITS(model->p * (int64_t)sizeof(float), before, out->array);
    TEST_ASSERT_NULL(out->model);
    TEST_ASSERT_EQUAL_INT(1, folder_count(&room));
    blob_free(&now);
    free(before);
}

static output begin_attempt(void)
{
    blob_write(path, old.data, old.size);
    return (output){NULL, draw_floats(3, model->p)};
}

static void end_attempt(output *out)
{
    npagg_model_destroy(out->model);
    free(out->array);
}

/* 1 if there was an n-th allocation. */
static int fail_nth(action act, int64_t n, int forever)
{
    meter m;
    output out = begin_attempt();
    meter_init(&m);
    npagg_ctx *c = meter_ctx(&m);
    meter_fail_in(&m, n, forever);
    const npagg_status status = act(c, &out);
    const int failed = m.failed > 0;
    meter_never_fail(&m);
    TEST_ASSERT_EQUAL_INT32(failed ? NPAGG_E_NOMEM : NPAGG_OK, status);
    if (failed) {
        TEST_ASSERT_TRUE(npagg_ctx_error(c)[0] != '\0');
        check_unchanged(&out);
        ASSERT_OK(c, act(c, &out));
    }
    end_attempt(&out);
    npagg_ctx_destroy(c);
    ASSERT_BALANCED(&m);
    return failed;
}

static void test_every_failing_allocation_leaves_all_as_it_was(void)
{
    for (int i = 0; i < ACTIONS; i++) {
        int64_t n = 1;
        while (fail_nth(actions[i], n, 0) | fail_nth(actions[i], n, 1))
            n++;
        TEST_ASSERT_GREATER_THAN_INT64(1, n);
    }
}

static long json_calls, json_fail_from, json_fail_to;

static void *fail_json(size_t size)
{
    json_calls++;
    return json_calls >= json_fail_from && json_calls <= json_fail_to ? NULL : malloc(size);
}

/* 1 if allocation n of the JSON library was there to fail, alone or with all that follow. */
static int fail_nth_json(action act, long n, int forever)
{
    output out = begin_attempt();
    json_calls = 0;
    json_fail_from = n;
    json_fail_to = forever ? LONG_MAX : n;
    json_set_alloc_funcs(fail_json, free);
    const npagg_status status = act(ctx, &out);
    json_set_alloc_funcs(malloc, free);
    const int failed = json_calls >= n;
    TEST_ASSERT_EQUAL_INT32(failed ? NPAGG_E_NOMEM : NPAGG_OK, status);
    if (failed)
        check_unchanged(&out);
    end_attempt(&out);
    return failed;
}

/* The JSON library has an allocator of its own. */
static void test_every_failing_allocation_of_the_json_library_leaves_all_as_it_was(void)
{
    long n = 1;
    while (fail_nth_json(do_save, n, 0) | fail_nth_json(do_save, n, 1))
        n++;
    TEST_ASSERT_GREATER_THAN_INT64(100, n);
}

/* While it reads, the library does not survive that: so it is asked before. */
static void test_reading_does_not_begin_without_memory_for_the_json_library(void)
{
    for (int i = 1; i < ACTIONS; i++)
        TEST_ASSERT_EQUAL_INT(1, fail_nth_json(actions[i], 1, 1));
}

/* In a child, since a limit cannot be raised again; 0 if the call failed as it should. */
static int save_with_limit(action act, rlim_t limit)
{
    const struct rlimit r = {limit, limit};
    output out = {NULL, NULL};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &r) != 0 || act(ctx, &out) != NPAGG_E_IO)
        return 1;
    return strstr(npagg_ctx_error(ctx), "x: cannot write: ") ? 0 : 2;
}

static void test_a_full_disk_leaves_the_old_file_whole(void)
{
    for (rlim_t limit = 0; limit < old.size - (size_t)model->p * 4; limit += 100) {
        output out = begin_attempt();
        int status = -1;
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0)
            _exit(save_with_limit(actions[limit / 100 % 2], limit));
        TEST_ASSERT_EQUAL_INT((int)child, (int)waitpid(child, &status, 0));
        TEST_ASSERT_TRUE(WIFEXITED(status));
        TEST_ASSERT_EQUAL_INT(0, WEXITSTATUS(status));
        check_unchanged(&out);
        end_attempt(&out);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_failing_allocation_leaves_all_as_it_was);
    RUN_TEST(test_every_failing_allocation_of_the_json_library_leaves_all_as_it_was);
    RUN_TEST(test_reading_does_not_begin_without_memory_for_the_json_library);
    RUN_TEST(test_a_full_disk_leaves_the_old_file_whole);
    return UNITY_END();
}
