/* Arrays of the host in a checkpoint: optimiser state, step counts. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "folder.h"
#include "io/safetensors.h"
#include "model/model.h"
#include "shapes.h"

static folder room;
static npagg_ctx *ctx;
static npagg_model *model;
static float *params;
static const char *path;

void setUp(void)
{
    folder_create(&room);
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    model = shape_create(ctx, &shapes[2]);
    params = draw_floats(1, model->p);
    path = folder_path(&room, "x");
    ASSERT_OK(ctx, npagg_model_save_f32(ctx, model, params, path));
}

void tearDown(void)
{
    free(params);
    npagg_model_destroy(model);
    npagg_ctx_destroy(ctx);
    folder_destroy(&room);
}

static void check_params_kept(void)
{
    npagg_model *loaded = NULL;
    float *back = draw_floats(2, model->p);
    ASSERT_OK(ctx, npagg_model_load(ctx, path, &loaded));
    ASSERT_SAME_MODEL(model, loaded);
    ASSERT_OK(ctx, npagg_model_load_params_f32(ctx, loaded, path, back));
    ASSERT_SAME_BITS(model->p * (int64_t)sizeof *back, params, back);
    npagg_model_destroy(loaded);
    free(back);
}

static void test_extras_are_kept_beside_the_model_and_each_other(void)
{
    enum { N = 5001 };
    float *m = draw_floats(3, N), m_back[N];
    double *v = draw_doubles(4, N), v_back[N], step = 12345, step_back;
    ASSERT_OK(ctx, npagg_model_save_extra_f32(ctx, path, "adam.m", N, m));
    ASSERT_OK(ctx, npagg_model_save_extra_f64(ctx, path, "adam.v", N, v));
    ASSERT_OK(ctx, npagg_model_save_extra_f64(ctx, path, "step", 1, &step));
    ASSERT_OK(ctx, npagg_model_load_extra_f32(ctx, path, "adam.m", N, m_back));
    ASSERT_OK(ctx, npagg_model_load_extra_f64(ctx, path, "adam.v", N, v_back));
    ASSERT_OK(ctx, npagg_model_load_extra_f64(ctx, path, "step", 1, &step_back));
    ASSERT_SAME_BITS(sizeof m_back, m, m_back);
    ASSERT_SAME_BITS(sizeof v_back, v, v_back);
    TEST_ASSERT_TRUE(step == step_back);
    check_params_kept();
    TEST_ASSERT_EQUAL_INT(1, folder_count(&room));
    free(m), free(v);
}

static void test_an_extra_of_the_same_name_is_replaced(void)
{
    const float three[3] = {1, 2, 3};
    const double five[5] = {5, 4, 3, 2, 1};
    double back[5];
    np_safetensors file;
    ASSERT_OK(ctx, npagg_model_save_extra_f32(ctx, path, "a", 3, three));
    ASSERT_OK(ctx, npagg_model_save_extra_f32(ctx, path, "b", 3, three));
    ASSERT_OK(ctx, npagg_model_save_extra_f64(ctx, path, "a", 5, five));
    ASSERT_OK(ctx, npagg_model_load_extra_f64(ctx, path, "a", 5, back));
    ASSERT_SAME_BITS(sizeof five, five, back);
    ASSERT_OK(ctx, npagg_model_load_extra_f64(ctx, path, "b", 3, back));
    TEST_ASSERT_TRUE(back[0] == 1 && back[2] == 3);
    ASSERT_OK(ctx, np_safetensors_open(ctx, path, &file));
    TEST_ASSERT_EQUAL_INT64(model->n_tensors + 2, file.count);
    np_safetensors_close(&file);
    check_params_kept();
}

/* So that a program which maps the file may use the arrays where they are. */
static void test_every_array_lies_at_a_multiple_of_its_numbers(void)
{
    const double x[3] = {1, 2, 3};
    const float y[3] = {1, 2, 3};
    np_safetensors file;
    for (int i = 0; i < 4; i++) {
        const char name[2] = {(char)('a' + i), '\0'};
        if (i % 2)
            ASSERT_OK(ctx, npagg_model_save_extra_f64(ctx, path, name, 3, x));
        else
            ASSERT_OK(ctx, npagg_model_save_extra_f32(ctx, path, name, 3, y));
    }
    ASSERT_OK(ctx, np_safetensors_open(ctx, path, &file));
    for (int64_t i = 0; i < file.count; i++)
        TEST_ASSERT_EQUAL_INT64(0, (file.data_at + file.entries[i].begin) %
                                       file.entries[i].dtype->bytes);
    np_safetensors_close(&file);
}

static void test_extras_are_converted_between_precisions(void)
{
    const float narrow[2] = {1.5f, -3e38f};
    const double wide[2] = {0.1, 1e300};
    float to_float[2];
    double to_double[2];
    ASSERT_OK(ctx, npagg_model_save_extra_f32(ctx, path, "narrow", 2, narrow));
    ASSERT_OK(ctx, npagg_model_save_extra_f64(ctx, path, "wide", 2, wide));
    ASSERT_OK(ctx, npagg_model_load_extra_f64(ctx, path, "narrow", 2, to_double));
    ASSERT_OK(ctx, npagg_model_load_extra_f32(ctx, path, "wide", 2, to_float));
    TEST_ASSERT_TRUE(to_double[0] == 1.5 && to_double[1] == (double)-3e38f);
    TEST_ASSERT_TRUE(to_float[0] == 0.1f && to_float[1] == 0x1.fffffep127f);
}

static void test_an_empty_extra_is_an_extra(void)
{
    ASSERT_OK(ctx, npagg_model_save_extra_f32(ctx, path, "none", 0, NULL));
    ASSERT_OK(ctx, npagg_model_load_extra_f64(ctx, path, "none", 0, NULL));
    check_params_kept();
}

static void test_an_extra_of_another_size_or_none_is_refused(void)
{
    double x[4] = {7, 7, 7, 7};
    const double untouched[4] = {7, 7, 7, 7};
    const float one[3] = {1, 1, 1};
    ASSERT_OK(ctx, npagg_model_save_extra_f32(ctx, path, "three", 3, one));
    ASSERT_FAILS(ctx, NPAGG_E_FORMAT, "no tensor 'four'",
                 npagg_model_load_extra_f64(ctx, path, "four", 4, x));
    ASSERT_FAILS(ctx, NPAGG_E_FORMAT, "tensor 'three' has 3 numbers, want 4",
                 npagg_model_load_extra_f64(ctx, path, "three", 4, x));
    ASSERT_FAILS(ctx, NPAGG_E_FORMAT, "tensor 'three' has 3 numbers, want 2",
                 npagg_model_load_extra_f64(ctx, path, "three", 2, x));
    ASSERT_SAME_BITS(sizeof x, untouched, x);
}

static void test_names_are_one_to_200_printable_characters(void)
{
    char name[202];
    float x[1] = {4};
    memset(name, '~', sizeof name);
    name[201] = '\0';
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "name of 201 bytes, want 1 to 200",
                 npagg_model_save_extra_f32(ctx, path, name, 1, x));
    name[200] = '\0';
    ASSERT_OK(ctx, npagg_model_save_extra_f32(ctx, path, name, 1, x));
    ASSERT_OK(ctx, npagg_model_load_extra_f32(ctx, path, name, 1, x));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "name of 0 bytes",
                 npagg_model_save_extra_f32(ctx, path, "", 1, x));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "not printable ASCII",
                 npagg_model_save_extra_f32(ctx, path, "a\nb", 1, x));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "not printable ASCII",
                 npagg_model_save_extra_f32(ctx, path, "\xc3\xa4", 1, x));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "name is __metadata__",
                 npagg_model_save_extra_f32(ctx, path, "__metadata__", 1, x));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "'encoder.mean.0.bias' is a tensor of the model",
                 npagg_model_save_extra_f32(ctx, path, "encoder.mean.0.bias", 1, x));
    ASSERT_OK(ctx, npagg_model_save_extra_f32(ctx, path, "encoder", 1, x));
    ASSERT_OK(ctx, npagg_model_save_extra_f32(ctx, path, " \"\\{}[]%s", 1, x));
    ASSERT_OK(ctx, npagg_model_load_extra_f32(ctx, path, " \"\\{}[]%s", 1, x));
    check_params_kept();
}

static void test_bad_arguments_are_named(void)
{
    float x[1] = {4};
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "path is NULL",
                 npagg_model_save_extra_f32(ctx, NULL, "a", 1, x));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "name is NULL",
                 npagg_model_save_extra_f32(ctx, path, NULL, 1, x));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "n = -1", npagg_model_load_extra_f32(ctx, path, "a", -1, x));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "n = 9223372036854775807",
                 npagg_model_save_extra_f32(ctx, path, "a", INT64_MAX, x));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "array is NULL",
                 npagg_model_load_extra_f32(ctx, path, "a", 1, NULL));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_model_save_extra_f32(NULL, path, "a", 1, x));
    ASSERT_FAILS(ctx, NPAGG_E_IO, "nowhere: cannot open",
                 npagg_model_save_extra_f32(ctx, folder_path(&room, "nowhere"), "a", 1, x));
}

/* Arrays that other programs put there stay, whatever they are made of. */
static void test_extras_of_other_programs_are_kept(void)
{
    const float x[1] = {4};
    np_safetensors before, after;
    ASSERT_OK(ctx, np_safetensors_open(ctx, path, &before));
    np_piece pieces[64];
    for (int64_t i = 0; i < before.count; i++)
        pieces[i] = (np_piece){.entry = &before.entries[i]};
    const np_dtype *half = NP_DTYPE_F32;
    while (strcmp(half->name, "BF16") != 0)
        half++;
    json_t *cube = json_pack("[i, i, i]", 1, 2, 1);
    const np_entry foreign = {"other", half, cube, 2, 0, 4};
    pieces[before.count] = (np_piece){.entry = &foreign};
    const char *mixed = folder_path(&room, "mixed");
    json_object_set_new(before.metadata, "author", json_string("somebody"));
    ASSERT_OK(ctx,
              np_safetensors_save(ctx, mixed, before.metadata, before.count + 1, pieces, &before));
    ASSERT_OK(ctx, npagg_model_save_extra_f32(ctx, mixed, "mine", 1, x));
    ASSERT_OK(ctx, np_safetensors_open(ctx, mixed, &after));
    const np_entry *other = np_safetensors_find(&after, "other");
    TEST_ASSERT_NOT_NULL(other);
    TEST_ASSERT_TRUE(other->dtype == half && json_equal(other->shape, cube));
    TEST_ASSERT_EQUAL_STRING("somebody", np_safetensors_text(&after, "author"));
    np_safetensors_close(&before);
    np_safetensors_close(&after);
    json_decref(cube);
    path = mixed;
    check_params_kept();
    double out[2];
    ASSERT_FAILS(ctx, NPAGG_E_FORMAT, "tensor 'other' is BF16, want F32 or F64",
                 npagg_model_load_extra_f64(ctx, mixed, "other", 2, out));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_extras_are_kept_beside_the_model_and_each_other);
    RUN_TEST(test_an_extra_of_the_same_name_is_replaced);
    RUN_TEST(test_every_array_lies_at_a_multiple_of_its_numbers);
    RUN_TEST(test_extras_are_converted_between_precisions);
    RUN_TEST(test_an_empty_extra_is_an_extra);
    RUN_TEST(test_an_extra_of_another_size_or_none_is_refused);
    RUN_TEST(test_names_are_one_to_200_printable_characters);
    RUN_TEST(test_bad_arguments_are_named);
    RUN_TEST(test_extras_of_other_programs_are_kept);
    return UNITY_END();
}
