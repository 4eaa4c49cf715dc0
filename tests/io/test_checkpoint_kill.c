/* kill -9 in the middle of saves: whoever opens the file finds the one before or the one after. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "folder.h"
#include "model/model.h"
#include "problem.h"
#include "shapes.h"

enum { CUTS = 200, MOST_KILLS = 4000, LONGEST = 10000 /* microseconds */ };

static folder room;
static const char *path;
static npagg_ctx *ctx;
static npagg_model *model;

void setUp(void)
{
    shape s = shapes[0];
    s.encoder.hidden[0] = s.encoder.hidden[1] = 256; /* a file that takes a while to write */
    folder_create(&room);
    path = folder_path(&room, "x");
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    model = shape_create(ctx, &s);
}

void tearDown(void)
{
    npagg_model_destroy(model);
    npagg_ctx_destroy(ctx);
    folder_destroy(&room);
}

/* Params that are all i. */
static void fill(float *x, int64_t n, float i)
{
    for (int64_t j = 0; j < n; j++)
        x[j] = i;
}

static void save_forever(float *params, int with_extra)
{
    for (int i = 1;; i = i % 1000 + 1) {
        fill(params, model->p, (float)i);
        if (npagg_model_save_f32(ctx, model, params, path) != NPAGG_OK)
            _exit(1);
        if (with_extra && npagg_model_save_extra_f32(ctx, path, "e", 9, params) != NPAGG_OK)
            _exit(1);
    }
}

static int count_and_remove_temporaries(void)
{
    int n = 0;
    DIR *dir = opendir(room.path);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strstr(entry->d_name, ".tmp")) {
            unlink(folder_path(&room, entry->d_name));
            n++;
        }
    closedir(dir);
    path = folder_path(&room, "x");
    return n;
}

/* The model and params of one save; an extra, if there is one, of the same. */
static void check_whole(float *params)
{
    npagg_model *loaded = NULL;
    float extra[9];
    ASSERT_OK(ctx, npagg_model_load(ctx, path, &loaded));
    ASSERT_SAME_MODEL(model, loaded);
    ASSERT_OK(ctx, npagg_model_load_params_f32(ctx, loaded, path, params));
    for (int64_t i = 1; i < model->p; i++)
        TEST_ASSERT_TRUE(params[i] == params[0]);
    if (npagg_model_load_extra_f32(ctx, path, "e", 9, extra) == NPAGG_OK)
        TEST_ASSERT_TRUE(extra[0] == params[0] && extra[8] == params[0]);
    npagg_model_destroy(loaded);
}

/* One child that saves until it is killed; 1 if that was in the middle of a save. */
static int kill_one(test_rng *rng, float *params, int with_extra)
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    TEST_ASSERT_TRUE(child >= 0);
    if (child == 0)
        save_forever(params, with_extra);
    usleep((useconds_t)rng_int(rng, 0, LONGEST));
    kill(child, SIGKILL);
    TEST_ASSERT_EQUAL_INT((int)child, (int)waitpid(child, &status, 0));
    TEST_ASSERT_TRUE_MESSAGE(WIFSIGNALED(status), "a save failed");
    return count_and_remove_temporaries();
}

static void test_kills_in_the_middle_of_200_saves_leave_a_whole_file(void)
{
    test_rng rng = {17};
    int cuts = 0;
    float *params = malloc((size_t)model->p * sizeof *params);
    fill(params, model->p, 0);
    ASSERT_OK(ctx, npagg_model_save_f32(ctx, model, params, path));
    for (int kills = 0; cuts < CUTS; kills++) {
        TEST_ASSERT_LESS_THAN_INT_MESSAGE(MOST_KILLS, kills, "hardly a kill came during a save");
        cuts += kill_one(&rng, params, kills % 2);
        check_whole(params);
    }
    free(params);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_kills_in_the_middle_of_200_saves_leave_a_whole_file);
    return UNITY_END();
}
