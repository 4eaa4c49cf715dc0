/* Files that are not what they should be: each is refused with a message of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
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

typedef struct {
    const char *header;
    size_t data; /* bytes after it */
    const char *text;
} broken;

#define A(fields) "{\"a\":{" fields "}}"
#define DTYPE "\"dtype\":\"F32\","
#define SHAPE "\"shape\":[2],"
#define OFFSETS "\"data_offsets\":[0,8]"
#define TENSOR(name, begin, end)                                                                   \
    "\"" name "\":{\"dtype\":\"U8\",\"shape\":[" #end "],\"data_offsets\":[" #begin "," #end "]}"

static const broken headers[] = {
    /* JSON */
    {"", 0, "is no JSON object"},
    {"{", 0, "is no JSON object"},
    {"[]", 0, "is no JSON object: want '{' first"},
    {" {}", 0, "want '{' first"},
    {"12", 0, "want '{' first"},
    {"{]", 0, "not good JSON at byte 2"},
    {"{}}", 0, "end of file expected"},
    {"{} x", 0, "not good JSON at byte 4"},
    {"{\"a\"}", 0, "':' expected"},
    {"{\"a\":}", 0, "unexpected token near '}'"},
    {"{'a':1}", 0, "string or '}' expected"},
    {"{\"a\":nope}", 0, "invalid token near 'nope'"},
    {"{\"a", 0, "premature end of input"},
    {"{\"a\":1,}", 0, "near '}'"},
    {"{\"\xff\":1}", 0, "unable to decode byte 0xff"},
    {"{\"\xc3(\":1}", 0, "unable to decode byte 0xc3"},
    {"{\"\xed\xa0\x80\":1}", 0, "unable to decode byte 0xed"},
    {"{\"a\\u0000\":1}", 0, "\\u0000"},
    {"{\"a\\ud800\":1}", 0, "Unicode"},
    {"{\"a\\x\":1}", 0, "invalid escape"},
    {"{\"a\n\":1}", 0, "unexpected newline"},
    {"{\"a\x01\":1}", 0, "control character"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999]}}", 0, "too big integer"},
    {"{\"a\":{\"shape\":[1e999]}}", 0, "real number overflow"},
    {"{\"a\":{},\"a\":{}}", 0, "duplicate object key"},
    {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 0, "duplicate object key near '\"dtype\"'"},
    {"{\"a\":{\"shape\":[[2]]}}", 0, "nested more than 3 deep at byte 15"},
    {"{\"a\":{\"b\":{\"c\":{}}}}", 0, "nested more than 3 deep at byte 15"},
    /* metadata */
    {"{\"__metadata__\":[]}", 0, "__metadata__ is no object"},
    {"{\"__metadata__\":\"\"}", 0, "__metadata__ is no object"},
    {"{\"__metadata__\":null}", 0, "__metadata__ is no object"},
    {"{\"__metadata__\":{\"k\":1}}", 0, "metadata 'k' is no string"},
    {"{\"__metadata__\":{\"\\u00e4\\u0007\":{}}}", 0, "metadata '\?\?\?' is no string"},
    /* fields */
    {"{\"a\":1}", 0, "tensor 'a': no object"},
    {"{\"a\":[]}", 0, "tensor 'a': no object"},
    {A(SHAPE OFFSETS), 8, "tensor 'a': no dtype"},
    {A("\"dtype\":4," SHAPE OFFSETS), 8, "tensor 'a': dtype is no string"},
    {A("\"dtype\":\"F31\"," SHAPE OFFSETS), 8, "tensor 'a': dtype 'F31' is unknown"},
    {A("\"dtype\":\"\"," SHAPE OFFSETS), 8, "tensor 'a': dtype '' is unknown"},
    {A("\"dtype\":\"f32\"," SHAPE OFFSETS), 8, "dtype 'f32' is unknown"},
    {A(DTYPE OFFSETS), 8, "tensor 'a': no shape"},
    {A(DTYPE "\"shape\":2," OFFSETS), 8, "tensor 'a': shape is no array"},
    {A(DTYPE "\"shape\":[2.0]," OFFSETS), 8, "a size in its shape is no integer"},
    {A(DTYPE "\"shape\":[\"2\"]," OFFSETS), 8, "a size in its shape is no integer"},
    {A(DTYPE "\"shape\":[-2]," OFFSETS), 8, "a size in its shape is negative"},
    {A(DTYPE "\"shape\":[9223372036854775807]," OFFSETS), 8, "too large for any file"},
    {A(DTYPE "\"shape\":[4294967296,4294967296]," OFFSETS), 8, "too large for any file"},
    {A(DTYPE "\"shape\":[-1,-2]," OFFSETS), 8, "a size in its shape is negative"},
    {A(DTYPE "\"shape\":[2]"), 8, "tensor 'a': no data_offsets"},
    {A(DTYPE SHAPE "\"data_offsets\":8"), 8, "data_offsets is no array"},
    {A(DTYPE SHAPE "\"data_offsets\":[0]"), 8, "data_offsets are not two"},
    {A(DTYPE SHAPE "\"data_offsets\":[0,4,8]"), 8, "data_offsets are not two"},
    {A(DTYPE SHAPE "\"data_offsets\":[0,8.0]"), 8, "data_offsets are no integers"},
    {A(DTYPE SHAPE "\"data_offsets\":[\"0\",8]"), 8, "data_offsets are no integers"},
    {A(DTYPE SHAPE "\"data_offsets\":[-8,0]"), 8, "data_offsets begin below 0"},
    {A(DTYPE SHAPE "\"data_offsets\":[8,0]"), 8, "data_offsets end before they begin"},
    {A(DTYPE SHAPE "\"data_offsets\":[9223372036854775807,-9223372036854775807]"), 8,
     "end before they begin"},
    /* sizes */
    {A(DTYPE SHAPE OFFSETS), 7, "tensor 'a' ends at byte 8 of the data, the file at 7"},
    {A(DTYPE SHAPE "\"data_offsets\":[0,9223372036854775807]"), 8, "the file at 8"},
    {A(DTYPE SHAPE "\"data_offsets\":[9223372036854775799,9223372036854775807]"), 8,
     "ends at byte 9223372036854775807 of the data"},
    {A(DTYPE "\"shape\":[3]," OFFSETS), 8, "tensor 'a' has 8 bytes, want 12 for its shape"},
    {A(DTYPE "\"shape\":[]," OFFSETS), 8, "has 8 bytes, want 4 for its shape"},
    {A(DTYPE "\"shape\":[2,0]," OFFSETS), 8, "has 8 bytes, want 0 for its shape"},
    {A("\"dtype\":\"F64\"," SHAPE OFFSETS), 8, "has 8 bytes, want 16 for its shape"},
    /* layout */
    {A(DTYPE SHAPE OFFSETS), 9, "1 bytes after the last tensor belong to none"},
    {"{}", 3, "3 bytes after the last tensor belong to none"},
    {A(DTYPE SHAPE "\"data_offsets\":[4,12]"), 12, "4 bytes before tensor 'a' belong to none"},
    {"{\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[5,8]}," TENSOR("a", 0, 4) "}", 8,
     "1 bytes before tensor 'b' belong to none"},
    {"{\"b\":{\"dtype\":\"U8\",\"shape\":[5],\"data_offsets\":[3,8]}," TENSOR("a", 0, 4) "}", 8,
     "tensors 'a' and 'b' overlap"},
    {"{" TENSOR("a", 0, 4) "," TENSOR("c", 0, 4) "}", 4, "' overlap"},
    {"{" TENSOR("a", 0, 4) "," TENSOR("c", 0, 8) "}", 8, "tensors 'a' and 'c' overlap"},
};
enum { HEADERS = sizeof headers / sizeof headers[0] };

static void check_refused(const char *path, const char *text)
{
    np_safetensors file;
    ASSERT_FAILS(ctx, NPAGG_E_FORMAT, text, np_safetensors_open(ctx, path, &file));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(npagg_ctx_error(ctx), path), npagg_ctx_error(ctx));
    np_safetensors_close(&file);
}

static void test_every_broken_header_is_refused_with_its_message(void)
{
    const char *path = folder_path(&room, "x");
    for (int i = 0; i < HEADERS; i++) {
        write_safetensors(path, headers[i].header, headers[i].data);
        check_refused(path, headers[i].text);
    }
}

/* More than 60 files, and no two kinds of fault that one could not tell apart. */
static void test_broken_headers_have_many_different_messages(void)
{
    char seen[HEADERS][256];
    int different = 0;
    const char *path = folder_path(&room, "x");
    for (int i = 0; i < HEADERS; i++) {
        np_safetensors file;
        write_safetensors(path, headers[i].header, headers[i].data);
        np_safetensors_open(ctx, path, &file);
        int same = 0;
        for (int j = 0; j < different; j++)
            same |= strcmp(seen[j], npagg_ctx_error(ctx)) == 0;
        if (!same)
            strcpy(seen[different++], npagg_ctx_error(ctx));
    }
    TEST_ASSERT_GREATER_OR_EQUAL_INT(60, HEADERS);
    TEST_ASSERT_GREATER_OR_EQUAL_INT(55, different);
}

static void test_files_shorter_than_their_length_says_are_refused(void)
{
    const char *path = folder_path(&room, "x");
    const struct {
        const char *bytes;
        size_t size;
        const char *text;
    } files[] = {
        {"", 0, "0 bytes are no safetensors file"},
        {"\2\0\0\0\0\0\0", 7, "7 bytes are no safetensors file"},
        {"\0\0\0\0\0\0\0\0", 8, "header is no JSON object"},
        {"\3\0\0\0\0\0\0\0{}", 10, "header of 3 bytes in a file of 10"},
        {"\1\0\100\6\0\0\0\0{}", 10, "header of 104857601 bytes, want at most 104857600"},
        {"\0\0\0\0\0\0\0\200{}", 10, "header of 9223372036854775808 bytes"},
        {"\377\377\377\377\377\377\377\377{}", 10, "header of 18446744073709551615 bytes"},
        {"\7\0\0\0\0\0\0\0{\"a\":1\0}", 16, "not good JSON"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        blob_write(path, files[i].bytes, files[i].size);
        check_refused(path, files[i].text);
    }
}

static void test_deep_nesting_does_not_reach_the_stack(void)
{
    enum { DEEP = 1000000 };
    const char *path = folder_path(&room, "x");
    char *header = malloc(DEEP + 8);
    memset(header, '[', DEEP);
    memcpy(header, "{\"a\":", 5);
    header[DEEP] = '\0';
    write_safetensors(path, header, 0);
    check_refused(path, "nested more than 3 deep");
    free(header);
}

/* A quote or bracket inside of a string does not count. */
static void test_brackets_in_names_are_not_nesting(void)
{
    np_safetensors file;
    const char *path = folder_path(&room, "x");
    write_safetensors(path, "{" TENSOR("[[[[{{{{\\\"]]]\\\\", 0, 4) "}", 4);
    ASSERT_OK(ctx, np_safetensors_open(ctx, path, &file));
    TEST_ASSERT_EQUAL_STRING("[[[[{{{{\"]]]\\", file.entries[0].name);
    np_safetensors_close(&file);
}

static void test_long_and_odd_names_fit_into_the_message(void)
{
    const char *path = folder_path(&room, "x");
    char header[2000];
    memset(header, 'n', sizeof header);
    memcpy(header, "{\"\xc3\xa4\x7f", 5);
    strcpy(header + 1000, "\":1}");
    write_safetensors(path, header, 0);
    check_refused(path, "tensor '\?\?\?nnnn");
    TEST_ASSERT_NOT_NULL(strstr(npagg_ctx_error(ctx), "...': no object"));
}

/* The largest single allocation while a broken file is looked at. */
static void *watch(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)old_size;
    size_t *largest = user;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    *largest = new_size > *largest ? new_size : *largest;
    return realloc(p, new_size);
}

static void test_a_file_that_lies_gets_no_more_memory_than_it_has_bytes(void)
{
    enum { MANY = 20000 };
    size_t largest = 0;
    npagg_ctx *watched = NULL;
    np_safetensors file;
    const char *path = folder_path(&room, "x");
    char *header = malloc(MANY * 80), *end = header;
    *end++ = '{';
    for (int i = 0; i < MANY; i++)
        end += sprintf(end, "%s\"%x\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}",
                       i ? "," : "", (unsigned)i);
    strcpy(end, "}");
    write_safetensors(path, header, 1);
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_ctx_create_with_alloc(&watched, watch, &largest));
    largest = 0;
    ASSERT_FAILS(watched, NPAGG_E_FORMAT, "overlap", np_safetensors_open(watched, path, &file));
    TEST_ASSERT_GREATER_THAN_size_t(0, largest);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(strlen(header) + 9 + NP_APART, largest);
    npagg_ctx_destroy(watched);
    free(header);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_broken_header_is_refused_with_its_message);
    RUN_TEST(test_broken_headers_have_many_different_messages);
    RUN_TEST(test_files_shorter_than_their_length_says_are_refused);
    RUN_TEST(test_deep_nesting_does_not_reach_the_stack);
    RUN_TEST(test_brackets_in_names_are_not_nesting);
    RUN_TEST(test_long_and_odd_names_fit_into_the_message);
    RUN_TEST(test_a_file_that_lies_gets_no_more_memory_than_it_has_bytes);
    return UNITY_END();
}
