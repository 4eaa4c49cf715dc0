/* Arrays by name into a file and back, and what no damage to a file may do. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "check.h"
#include "folder.h"
#include "io/safetensors.h"
#include "meter.h"

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

enum { LONG = 9001 };

/* The arrays of all these tests: longer than the buffers inside, empty, odd, not finite. */
typedef struct {
    double wide[LONG];
    float narrow[5];
    float square[6];
    np_piece pieces[4];
    json_t *metadata;
} sample;

static sample *sample_create(void)
{
    sample *s = calloc(1, sizeof *s);
    for (int i = 0; i < LONG; i++)
        s->wide[i] = i % 7 ? 1.0 / i : -1e300 * i;
    const float narrow[5] = {1.5f, INFINITY, -INFINITY, NAN, 1e-45f};
    memcpy(s->narrow, narrow, sizeof narrow);
    for (int i = 0; i < 6; i++)
        s->square[i] = (float)i / 3;
    s->pieces[0] = (np_piece){NULL, "wide", NP_DTYPE_F64, LONG, 0, s->wide};
    s->pieces[1] = (np_piece){NULL, "narrow", NP_DTYPE_F32, 5, 0, s->narrow};
    s->pieces[2] = (np_piece){NULL, "none", NP_DTYPE_F32, 0, 0, NULL};
    s->pieces[3] = (np_piece){NULL, "a \"b\" \\ {c}", NP_DTYPE_F32, 2, 3, s->square};
    s->metadata = json_pack("{s: s, s: s}", "key", "value", "empty", "");
    return s;
}

static void sample_destroy(sample *s)
{
    json_decref(s->metadata);
    free(s);
}

static npagg_status sample_save(npagg_ctx *c, const sample *s, const char *path)
{
    return np_safetensors_save(c, path, s->metadata, 4, s->pieces, NULL);
}

static void test_what_is_written_is_read_back(void)
{
    np_safetensors file;
    float narrow[5];
    static double wide[LONG];
    sample *s = sample_create();
    const char *path = folder_path(&room, "x");
    ASSERT_OK(ctx, sample_save(ctx, s, path));
    ASSERT_OK(ctx, np_safetensors_open(ctx, path, &file));
    TEST_ASSERT_EQUAL_INT64(4, file.count);
    TEST_ASSERT_EQUAL_INT64(0, file.data_at % 8);
    TEST_ASSERT_EQUAL_STRING("value", np_safetensors_text(&file, "key"));
    TEST_ASSERT_EQUAL_STRING("", np_safetensors_text(&file, "empty"));
    TEST_ASSERT_NULL(np_safetensors_text(&file, "other"));
    TEST_ASSERT_NULL(np_safetensors_find(&file, "other"));
    TEST_ASSERT_EQUAL_INT64(0, np_safetensors_find(&file, "none")->count);
    TEST_ASSERT_EQUAL_INT64(6, np_safetensors_find(&file, "a \"b\" \\ {c}")->count);
    ASSERT_OK(ctx, np_safetensors_read_f64(ctx, &file, np_safetensors_find(&file, "wide"), wide));
    ASSERT_SAME_BITS(sizeof wide, s->wide, wide);
    ASSERT_OK(ctx,
              np_safetensors_read_f32(ctx, &file, np_safetensors_find(&file, "narrow"), narrow));
    ASSERT_SAME_BITS(sizeof narrow, s->narrow, narrow);
    np_safetensors_close(&file);
    sample_destroy(s);
}

static void test_the_other_precision_is_converted(void)
{
    np_safetensors file;
    static float narrow[LONG];
    double wide[5];
    sample *s = sample_create();
    const char *path = folder_path(&room, "x");
    ASSERT_OK(ctx, sample_save(ctx, s, path));
    ASSERT_OK(ctx, np_safetensors_open(ctx, path, &file));
    ASSERT_OK(ctx, np_safetensors_read_f32(ctx, &file, np_safetensors_find(&file, "wide"), narrow));
    for (int i = 0; i < LONG; i++)
        TEST_ASSERT_TRUE(narrow[i] == (s->wide[i] < -3e38 ? -0x1.fffffep127f : (float)s->wide[i]));
    ASSERT_OK(ctx, np_safetensors_read_f64(ctx, &file, np_safetensors_find(&file, "narrow"), wide));
    TEST_ASSERT_TRUE(wide[0] == 1.5 && wide[1] == INFINITY && wide[2] == -INFINITY);
    TEST_ASSERT_TRUE(isnan(wide[3]) && wide[4] == (double)1e-45f);
    np_safetensors_close(&file);
    sample_destroy(s);
}

static void test_infinities_of_doubles_stay_infinite_in_floats(void)
{
    np_safetensors file;
    float got[3];
    const double wide[3] = {INFINITY, -INFINITY, NAN};
    const np_piece piece = {NULL, "x", NP_DTYPE_F64, 3, 0, wide};
    json_t *metadata = json_object();
    const char *path = folder_path(&room, "x");
    ASSERT_OK(ctx, np_safetensors_save(ctx, path, metadata, 1, &piece, NULL));
    ASSERT_OK(ctx, np_safetensors_open(ctx, path, &file));
    ASSERT_OK(ctx, np_safetensors_read_f32(ctx, &file, &file.entries[0], got));
    TEST_ASSERT_TRUE(got[0] == INFINITY && got[1] == -INFINITY && isnan(got[2]));
    np_safetensors_close(&file);
    json_decref(metadata);
}

static void test_types_that_are_no_reals_are_carried_but_not_read(void)
{
    np_safetensors file, copy;
    double out[8];
    char header[2000] = "{";
    const char *names[] = {"F16", "BF16", "BOOL", "U8",  "I8",  "F8_E5M2", "F8_E4M3",
                           "U16", "I16",  "U32",  "I32", "U64", "I64",     "C64"};
    const int bytes[] = {2, 2, 1, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 8};
    int at = 0;
    for (int i = 0; i < 14; i++) {
        sprintf(header + strlen(header),
                "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[1,1,1,1],\"data_offsets\":[%d,%d]}",
                i ? "," : "", names[i], names[i], at, at + bytes[i]);
        at += bytes[i];
    }
    strcat(header, "}");
    const char *path = folder_path(&room, "x"), *second = folder_path(&room, "y");
    write_safetensors(path, header, (size_t)at);
    ASSERT_OK(ctx, np_safetensors_open(ctx, path, &file));
    np_piece pieces[14];
    for (int i = 0; i < 14; i++) {
        ASSERT_FAILS(ctx, NPAGG_E_FORMAT, "want F32 or F64",
                     np_safetensors_read_f64(ctx, &file, &file.entries[i], out));
        pieces[i] = (np_piece){.entry = &file.entries[i]};
    }
    json_t *metadata = json_object();
    ASSERT_OK(ctx, np_safetensors_save(ctx, second, metadata, 14, pieces, &file));
    ASSERT_OK(ctx, np_safetensors_open(ctx, second, &copy));
    TEST_ASSERT_EQUAL_INT64(14, copy.count);
    for (int i = 0; i < 14; i++) {
        TEST_ASSERT_EQUAL_STRING(names[i], copy.entries[i].name);
        TEST_ASSERT_TRUE(copy.entries[i].dtype == file.entries[i].dtype);
        TEST_ASSERT_TRUE(json_equal(copy.entries[i].shape, file.entries[i].shape));
    }
    blob a = blob_read(path), b = blob_read(second);
    TEST_ASSERT_EQUAL_MEMORY(a.data + file.data_at, b.data + copy.data_at, (size_t)at);
    blob_free(&a), blob_free(&b);
    json_decref(metadata);
    np_safetensors_close(&file);
    np_safetensors_close(&copy);
}

/* In any order in the header, with white space, scalars, and empty arrays between others. */
static void test_headers_as_others_write_them_are_read(void)
{
    np_safetensors file;
    double out[2];
    const char *path = folder_path(&room, "x");
    write_safetensors(path,
                      "{ \"late\" : {\"data_offsets\":[4, 12], \"shape\":[2],\n\"dtype\":\"F32\"},"
                      "\"empty\":{\"dtype\":\"F64\",\"shape\":[0,7],\"data_offsets\":[4,4]},"
                      "\"scalar\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4],"
                      "\"more\":[1.5]},"
                      "\"end\":{\"dtype\":\"F64\",\"shape\":[0],\"data_offsets\":[12,12]}}     ",
                      12);
    ASSERT_OK(ctx, np_safetensors_open(ctx, path, &file));
    TEST_ASSERT_EQUAL_INT64(4, file.count);
    TEST_ASSERT_EQUAL_STRING("scalar", file.entries[0].name);
    TEST_ASSERT_EQUAL_STRING("empty", file.entries[1].name);
    TEST_ASSERT_EQUAL_STRING("late", file.entries[2].name);
    TEST_ASSERT_EQUAL_STRING("end", file.entries[3].name);
    ASSERT_OK(ctx, np_safetensors_read_f64(ctx, &file, &file.entries[2], out));
    np_safetensors_close(&file);
}

static void test_no_tensors_are_fine(void)
{
    np_safetensors file;
    const char *path = folder_path(&room, "x");
    write_safetensors(path, "{}", 0);
    ASSERT_OK(ctx, np_safetensors_open(ctx, path, &file));
    TEST_ASSERT_EQUAL_INT64(0, file.count);
    TEST_ASSERT_NULL(np_safetensors_text(&file, "key"));
    np_safetensors_close(&file);
}

static void test_many_tensors_in_any_order_are_sorted(void)
{
    enum { MANY = 3001 };
    np_safetensors file;
    char *header = malloc(MANY * 80), *end = header;
    const char *path = folder_path(&room, "x");
    *end++ = '{';
    for (int i = 0; i < MANY; i++) {
        const int at = (int)((int64_t)i * 1234 % MANY);
        end += sprintf(end, "%s\"%d\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[%d,%d]}",
                       i ? "," : "", at, at, at + 1);
    }
    strcpy(end, "}");
    write_safetensors(path, header, MANY);
    ASSERT_OK(ctx, np_safetensors_open(ctx, path, &file));
    for (int i = 0; i < MANY; i++)
        TEST_ASSERT_EQUAL_INT(i, atoi(file.entries[i].name));
    np_safetensors_close(&file);
    free(header);
}

/* A small good file, as bytes. */
static blob make_good(const char *path)
{
    const float x[3] = {1, 2, 3};
    const np_piece pieces[2] = {{NULL, "one", NP_DTYPE_F32, 3, 0, x},
                                {NULL, "two", NP_DTYPE_F32, 1, 2, x}};
    json_t *metadata = json_pack("{s: s}", "k", "v");
    ASSERT_OK(ctx, np_safetensors_save(ctx, path, metadata, 2, pieces, NULL));
    json_decref(metadata);
    return blob_read(path);
}

static void test_a_file_cut_anywhere_is_refused(void)
{
    np_safetensors file;
    const char *path = folder_path(&room, "x");
    blob good = make_good(path);
    for (size_t size = 0; size < good.size; size++) {
        blob_write(path, good.data, size);
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_FORMAT, np_safetensors_open(ctx, path, &file));
    }
    blob_free(&good);
}

/* Reads all that a damaged file still shows. */
static void read_whatever(const char *path)
{
    np_safetensors file;
    const npagg_status status = np_safetensors_open(ctx, path, &file);
    if (status != NPAGG_OK) {
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_FORMAT, status);
        return;
    }
    for (int64_t i = 0; i < file.count; i++) {
        float *out = malloc((size_t)file.entries[i].count * sizeof *out + 1);
        np_safetensors_read_f32(ctx, &file, &file.entries[i], out);
        free(out);
    }
    np_safetensors_close(&file);
}

static void test_any_one_byte_of_the_header_may_be_wrong(void)
{
    const char *path = folder_path(&room, "x");
    const unsigned char junk[] = {0,   1,   '"', '\\', ',', ':', '{',  '}',  '[',
                                  ']', '-', '9', '.',  'e', ' ', 0x7f, 0x80, 0xff};
    blob good = make_good(path);
    const size_t length = 8 + (size_t)good.data[0] + 256u * good.data[1];
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = good.data[i];
        for (size_t j = 0; j < sizeof junk; j++) {
            good.data[i] = junk[j];
            blob_write(path, good.data, good.size);
            read_whatever(path);
        }
        good.data[i] = (unsigned char)(byte ^ 1);
        blob_write(path, good.data, good.size);
        read_whatever(path);
        good.data[i] = byte;
    }
    blob_free(&good);
}

/* Every allocation of a context fails in turn: once alone, once with all that follow. */
static npagg_status save_and_open(npagg_ctx *c, const sample *s, const char *path)
{
    np_safetensors file;
    NP_TRY(sample_save(c, s, path));
    NP_TRY(np_safetensors_open(c, path, &file));
    np_safetensors_close(&file);
    return NPAGG_OK;
}

static void test_every_failing_allocation_is_survived(void)
{
    const char *path = folder_path(&room, "x");
    sample *s = sample_create();
    int64_t n = 0;
    for (int failed = 1; failed; n++) {
        meter m;
        meter_init(&m);
        npagg_ctx *c = meter_ctx(&m);
        meter_fail_in(&m, n + 1, n % 2);
        const npagg_status status = save_and_open(c, s, path);
        failed = m.failed > 0;
        TEST_ASSERT_EQUAL_INT32(failed ? NPAGG_E_NOMEM : NPAGG_OK, status);
        npagg_ctx_destroy(c);
        ASSERT_BALANCED(&m);
    }
    TEST_ASSERT_GREATER_THAN_INT64(3, n);
    sample_destroy(s);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_what_is_written_is_read_back);
    RUN_TEST(test_the_other_precision_is_converted);
    RUN_TEST(test_infinities_of_doubles_stay_infinite_in_floats);
    RUN_TEST(test_types_that_are_no_reals_are_carried_but_not_read);
    RUN_TEST(test_headers_as_others_write_them_are_read);
    RUN_TEST(test_no_tensors_are_fine);
    RUN_TEST(test_many_tensors_in_any_order_are_sorted);
    RUN_TEST(test_a_file_cut_anywhere_is_refused);
    RUN_TEST(test_any_one_byte_of_the_header_may_be_wrong);
    RUN_TEST(test_every_failing_allocation_is_survived);
    return UNITY_END();
}
