/* What is written here is what a plain reader of the format finds, and the other way round. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "folder.h"
#include "model/model.h"
#include "shapes.h"

static folder room;
static npagg_ctx *ctx;

void setUp(void)
{
    folder_create(&room);
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
    folder_destroy(&room);
}

static void make_command(char *command, size_t size, const char *verb, const char *in,
                         const char *out)
{
    const char *dir = getenv("NPAGG_IO_DIR");
    if (!dir)
        TEST_IGNORE_MESSAGE("NPAGG_IO_DIR does not say where safetensors_plain.py is");
    snprintf(command, size, "python3 '%s/safetensors_plain.py' %s '%s' '%s'", dir, verb, in, out);
    if (!*out)
        command[strlen(command) - 3] = '\0';
}

static const np_tensor *find_tensor(const npagg_model *model, const char *name)
{
    for (int64_t i = 0; i < model->n_tensors; i++)
        if (strcmp(model->tensors[i].name, name) == 0)
            return &model->tensors[i];
    return NULL;
}

static void check_shape(const npagg_model *model, const char *line)
{
    char name[100];
    long long rows = -1, columns = 0;
    TEST_ASSERT_GREATER_OR_EQUAL_INT(2,
                                     sscanf(line, "shape %99s %lld %lld", name, &rows, &columns));
    const np_tensor *tensor = find_tensor(model, name);
    TEST_ASSERT_NOT_NULL_MESSAGE(tensor, name);
    TEST_ASSERT_EQUAL_INT64(tensor->rows, rows);
    TEST_ASSERT_EQUAL_INT64(tensor->columns, columns);
}

static void check_value(const npagg_model *model, const double *params, const char *line)
{
    char name[100], text[64];
    long long i;
    TEST_ASSERT_EQUAL_INT(3, sscanf(line, "value %99s %lld %63s", name, &i, text));
    const double got = strtod(text, NULL), want = params[find_tensor(model, name)->offset + i];
    TEST_ASSERT_TRUE_MESSAGE(got == want || (isnan(got) && isnan(want)), line);
}

/* Number of values that Python printed, each of which is right. */
static int64_t check_print(const npagg_model *model, const double *params, const char *path)
{
    char command[1024], line[512];
    int64_t values = 0, shapes_seen = 0;
    make_command(command, sizeof command, "print", path, "");
    FILE *pipe = popen(command, "r");
    TEST_ASSERT_NOT_NULL(pipe);
    while (fgets(line, sizeof line, pipe)) {
        if (strncmp(line, "shape", 5) == 0)
            check_shape(model, line), shapes_seen++;
        if (strncmp(line, "value", 5) == 0)
            check_value(model, params, line), values++;
    }
    TEST_ASSERT_EQUAL_INT(0, pclose(pipe));
    TEST_ASSERT_EQUAL_INT64(model->n_tensors, shapes_seen);
    return values;
}

static void test_python_reads_the_shapes_and_numbers_that_were_saved(void)
{
    for (int i = 0; i < SHAPES; i++) {
        const char *path = folder_path(&room, "x");
        npagg_model *model = shape_create(ctx, &shapes[i]);
        double *params = draw_doubles(1, model->p);
        float *floats = draw_floats(1, model->p);
        ASSERT_OK(ctx, npagg_model_save_f64(ctx, model, params, path));
        TEST_ASSERT_EQUAL_INT64(model->p, check_print(model, params, path));
        ASSERT_OK(ctx, npagg_model_save_f32(ctx, model, floats, path));
        for (int64_t j = 0; j < model->p; j++)
            params[j] = (double)floats[j];
        TEST_ASSERT_EQUAL_INT64(model->p, check_print(model, params, path));
        npagg_model_destroy(model);
        free(params), free(floats);
    }
}

static void test_python_reads_the_settings_as_words(void)
{
    char command[1024], line[512];
    int words = 0;
    const char *path = folder_path(&room, "x");
    npagg_model *model = shape_create(ctx, &shapes[0]);
    double *params = draw_doubles(1, model->p);
    const char *wanted[] = {"metadata npagg.format 1\n",        "metadata encoder.kind mlp\n",
                            "metadata encoder.widths 8,8\n",    "metadata encoder.var_lo 1e-4\n",
                            "metadata prior.kind gaussian\n",   "metadata vmp.max_iters 5\n",
                            "metadata decoder.sd_floor 1e-1\n", "metadata objective.kind elbo\n"};
    ASSERT_OK(ctx, npagg_model_save_f64(ctx, model, params, path));
    make_command(command, sizeof command, "print", path, "");
    FILE *pipe = popen(command, "r");
    while (fgets(line, sizeof line, pipe))
        for (int i = 0; i < 8; i++)
            words += strcmp(line, wanted[i]) == 0;
    TEST_ASSERT_EQUAL_INT(0, pclose(pipe));
    TEST_ASSERT_EQUAL_INT(8, words);
    npagg_model_destroy(model);
    free(params);
}

static void test_what_python_writes_is_loaded_to_the_bit(void)
{
    for (int i = 0; i < SHAPES; i++) {
        char command[1024];
        const char *path = folder_path(&room, "x"), *rewritten = folder_path(&room, "y");
        npagg_model *model = shape_create(ctx, &shapes[i]), *loaded = NULL;
        double *params = draw_doubles(1, model->p), *back = draw_doubles(2, model->p);
        ASSERT_OK(ctx, npagg_model_save_f64(ctx, model, params, path));
        make_command(command, sizeof command, "rewrite", path, rewritten);
        TEST_ASSERT_EQUAL_INT(0, system(command));
        ASSERT_OK(ctx, npagg_model_load(ctx, rewritten, &loaded));
        ASSERT_SAME_MODEL(model, loaded);
        ASSERT_OK(ctx, npagg_model_load_params_f64(ctx, loaded, rewritten, back));
        ASSERT_SAME_BITS(model->p * (int64_t)sizeof(double), params, back);
        npagg_model_destroy(model);
        npagg_model_destroy(loaded);
        free(params), free(back);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_python_reads_the_shapes_and_numbers_that_were_saved);
    RUN_TEST(test_python_reads_the_settings_as_words);
    RUN_TEST(test_what_python_writes_is_loaded_to_the_bit);
    return UNITY_END();
}
