/* Models and their parameters into a file and back. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "folder.h"
#include "model/model.h"
#include "shapes.h"

static folder room;
static npagg_ctx *ctx;
static npagg_model *model; /* shapes[1] */

void setUp(void)
{
    folder_create(&room);
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    model = shape_create(ctx, &shapes[1]);
}

void tearDown(void)
{
    npagg_model_destroy(model);
    npagg_ctx_destroy(ctx);
    folder_destroy(&room);
}

static void check_trip_f32(const npagg_model *m, const char *path)
{
    const size_t bytes = (size_t)m->p * sizeof(float);
    npagg_model *loaded = NULL;
    float *params = draw_floats(7, m->p), *back = malloc(bytes);
    ASSERT_OK(ctx, npagg_model_save_f32(ctx, m, params, path));
    ASSERT_OK(ctx, npagg_model_load(ctx, path, &loaded));
    ASSERT_SAME_MODEL(m, loaded);
    ASSERT_OK(ctx, npagg_model_load_params_f32(ctx, loaded, path, back));
    ASSERT_SAME_BITS((int64_t)bytes, params, back);
    npagg_model_destroy(loaded);
    free(params), free(back);
}

static void check_trip_f64(const npagg_model *m, const char *path)
{
    const size_t bytes = (size_t)m->p * sizeof(double);
    npagg_model *loaded = NULL;
    double *params = draw_doubles(7, m->p), *back = malloc(bytes);
    ASSERT_OK(ctx, npagg_model_save_f64(ctx, m, params, path));
    ASSERT_OK(ctx, npagg_model_load(ctx, path, &loaded));
    ASSERT_SAME_MODEL(m, loaded);
    ASSERT_OK(ctx, npagg_model_load_params_f64(ctx, loaded, path, back));
    ASSERT_SAME_BITS((int64_t)bytes, params, back);
    npagg_model_destroy(loaded);
    free(params), free(back);
}

static void test_a_saved_model_and_its_params_are_loaded_to_the_bit(void)
{
    for (int i = 0; i < SHAPES; i++) {
        npagg_model *m = shape_create(ctx, &shapes[i]);
        check_trip_f32(m, folder_path(&room, "x"));
        check_trip_f64(m, folder_path(&room, "x"));
        npagg_model_destroy(m);
    }
    TEST_ASSERT_EQUAL_INT(1, folder_count(&room));
}

static void test_params_of_the_other_precision_are_converted(void)
{
    const char *narrow = folder_path(&room, "narrow"), *wide = folder_path(&room, "wide");
    const size_t n = (size_t)model->p;
    float *floats = draw_floats(3, model->p), *to_float = malloc(n * sizeof(float));
    double *doubles = draw_doubles(4, model->p), *to_double = malloc(n * sizeof(double));
    doubles[0] = 1e39;
    doubles[1] = -1e39;
    ASSERT_OK(ctx, npagg_model_save_f32(ctx, model, floats, narrow));
    ASSERT_OK(ctx, npagg_model_save_f64(ctx, model, doubles, wide));
    ASSERT_OK(ctx, npagg_model_load_params_f64(ctx, model, narrow, to_double));
    ASSERT_OK(ctx, npagg_model_load_params_f32(ctx, model, wide, to_float));
    for (size_t i = 0; i < n; i++) {
        TEST_ASSERT_TRUE(to_double[i] == (double)floats[i] || isnan(floats[i]));
        if (i >= 2)
            TEST_ASSERT_TRUE(to_float[i] == (float)doubles[i] || isnan(doubles[i]));
        TEST_ASSERT_TRUE(!isnan(floats[i]) == !isnan(to_double[i]));
    }
    TEST_ASSERT_TRUE(to_float[0] == FLT_MAX && to_float[1] == -FLT_MAX);
    free(floats), free(to_float), free(doubles), free(to_double);
}

static void test_the_same_model_is_always_the_same_bytes(void)
{
    const char *a = folder_path(&room, "a"), *b = folder_path(&room, "b");
    float *params = draw_floats(5, model->p);
    ASSERT_OK(ctx, npagg_model_save_f32(ctx, model, params, a));
    ASSERT_OK(ctx, npagg_model_save_f32(ctx, model, params, b));
    blob first = blob_read(a), second = blob_read(b);
    TEST_ASSERT_EQUAL_size_t(first.size, second.size);
    TEST_ASSERT_EQUAL_MEMORY(first.data, second.data, first.size);
    blob_free(&first), blob_free(&second);
    free(params);
}

/* Save, load and extras as they are in the plain locale. */
static void test_a_decimal_comma_changes_nothing(void)
{
    const char *a = folder_path(&room, "a"), *b = folder_path(&room, "b");
    npagg_model *loaded = NULL;
    float *params = draw_floats(5, model->p);
    ASSERT_OK(ctx, npagg_model_save_f32(ctx, model, params, a));
    if (!set_comma_locale(&room)) {
        free(params);
        TEST_IGNORE_MESSAGE("no locale with a decimal comma here");
    }
    const npagg_status saved = npagg_model_save_f32(ctx, model, params, b);
    const npagg_status status = npagg_model_load(ctx, a, &loaded);
    setlocale(LC_ALL, "C");
    ASSERT_OK(ctx, saved);
    ASSERT_OK(ctx, status);
    ASSERT_SAME_MODEL(model, loaded);
    blob first = blob_read(a), second = blob_read(b);
    TEST_ASSERT_EQUAL_size_t(first.size, second.size);
    TEST_ASSERT_EQUAL_MEMORY(first.data, second.data, first.size);
    blob_free(&first), blob_free(&second);
    npagg_model_destroy(loaded);
    free(params);
}

static void test_a_path_without_a_folder_is_in_the_current_one(void)
{
    char here[512];
    npagg_model *loaded = NULL;
    float *params = draw_floats(5, model->p);
    TEST_ASSERT_NOT_NULL(getcwd(here, sizeof here));
    TEST_ASSERT_EQUAL_INT(0, chdir(room.path));
    const npagg_status saved = npagg_model_save_f32(ctx, model, params, "bare");
    const npagg_status extra = npagg_model_save_extra_f32(ctx, "bare", "extra", 3, params);
    const npagg_status status = npagg_model_load(ctx, "bare", &loaded);
    TEST_ASSERT_EQUAL_INT(0, chdir(here));
    TEST_ASSERT_TRUE(saved == NPAGG_OK && extra == NPAGG_OK && status == NPAGG_OK);
    ASSERT_SAME_MODEL(model, loaded);
    npagg_model_destroy(loaded);
    free(params);
}

/* The text names the tensor; params stay as they were. */
static void refuse_params(const shape *s, const npagg_model *into, const char *text)
{
    const char *path = folder_path(&room, "x");
    npagg_model *other = shape_create(ctx, s);
    float *params = draw_floats(1, other->p), *before = draw_floats(2, into->p),
          *after = draw_floats(2, into->p);
    ASSERT_OK(ctx, npagg_model_save_f32(ctx, other, params, path));
    ASSERT_FAILS(ctx, NPAGG_E_FORMAT, text, npagg_model_load_params_f32(ctx, into, path, after));
    ASSERT_SAME_BITS(into->p * (int64_t)sizeof(float), before, after);
    npagg_model_destroy(other);
    free(params), free(before), free(after);
}

static void test_params_of_another_shape_are_refused(void)
{
    shape s = shapes[1];
    s.encoder.hidden[0] = 8;
    refuse_params(&s, model,
                  "tensor 'encoder.trunk.0.weight' has shape [8,5], the model's has [7,5]");
    s = shapes[1];
    s.encoder.trunk = 0;
    refuse_params(&s, model, "tensor 'encoder.trunk.0.weight' of the model is missing");
    s = shapes[1];
    s.prior.k = 2;
    refuse_params(&s, model, "tensor 'prior.mean' has shape [2,5], the model's has [3,5]");
    s = shapes[1];
    s.prior.robust = 1;
    s.objective.kind = NPAGG_OBJECTIVE_ELBO;
    refuse_params(&s, model, "tensor 'prior.log_c0' is in the file's model only");
}

/* What the parameters mean may change without their shape: another objective, for instance. */
static void test_params_of_another_objective_are_loaded(void)
{
    shape s = shapes[1];
    const char *path = folder_path(&room, "x");
    s.objective.kind = NPAGG_OBJECTIVE_IWAE;
    npagg_model *other = shape_create(ctx, &s);
    float *params = draw_floats(1, other->p), *back = draw_floats(2, other->p);
    ASSERT_OK(ctx, npagg_model_save_f32(ctx, other, params, path));
    ASSERT_OK(ctx, npagg_model_load_params_f32(ctx, model, path, back));
    ASSERT_SAME_BITS(model->p * (int64_t)sizeof(float), params, back);
    npagg_model_destroy(other);
    free(params), free(back);
}

static void test_null_arguments_are_named(void)
{
    npagg_model *m = NULL;
    float f[1] = {0};
    double d[1] = {0};
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "model is NULL", npagg_model_save_f32(ctx, NULL, f, "x"));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "params is NULL", npagg_model_save_f64(ctx, model, NULL, "x"));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "path is NULL", npagg_model_save_f32(ctx, model, f, NULL));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "path is NULL", npagg_model_load(ctx, NULL, &m));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "out is NULL", npagg_model_load(ctx, "x", NULL));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "model is NULL", npagg_model_load_params_f32(ctx, NULL, "x", f));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "path is NULL",
                 npagg_model_load_params_f64(ctx, model, NULL, d));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "params is NULL",
                 npagg_model_load_params_f32(ctx, model, "x", NULL));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_model_save_f32(NULL, model, f, "x"));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_model_load(NULL, "x", &m));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_model_load_params_f64(NULL, model, "x", d));
    TEST_ASSERT_NULL(m);
}

static void test_what_the_system_refuses_is_an_io_error(void)
{
    npagg_model *m = NULL;
    float *params = draw_floats(1, model->p);
    ASSERT_FAILS(ctx, NPAGG_E_IO, "nowhere: cannot open: No such file",
                 npagg_model_load(ctx, folder_path(&room, "nowhere"), &m));
    ASSERT_FAILS(ctx, NPAGG_E_IO, "it is a directory", npagg_model_load(ctx, room.path, &m));
    ASSERT_FAILS(ctx, NPAGG_E_IO, "it is a directory",
                 npagg_model_save_f32(ctx, model, params, room.path));
    ASSERT_FAILS(ctx, NPAGG_E_IO, "no/where: cannot create a file in its folder: ",
                 npagg_model_save_f32(ctx, model, params, folder_path(&room, "no/where")));
    ASSERT_FAILS(ctx, NPAGG_E_IO, "it is not a regular file",
                 npagg_model_save_f32(ctx, model, params, "/dev/full"));
    TEST_ASSERT_NULL(m);
    TEST_ASSERT_EQUAL_INT(0, folder_count(&room));
    free(params);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_saved_model_and_its_params_are_loaded_to_the_bit);
    RUN_TEST(test_params_of_the_other_precision_are_converted);
    RUN_TEST(test_the_same_model_is_always_the_same_bytes);
    RUN_TEST(test_a_decimal_comma_changes_nothing);
    RUN_TEST(test_a_path_without_a_folder_is_in_the_current_one);
    RUN_TEST(test_params_of_another_shape_are_refused);
    RUN_TEST(test_params_of_another_objective_are_loaded);
    RUN_TEST(test_null_arguments_are_named);
    RUN_TEST(test_what_the_system_refuses_is_an_io_error);
    return UNITY_END();
}
