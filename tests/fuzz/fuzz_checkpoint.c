/*
 * Any bytes as a checkpoint: loaded or refused, never a crash, and outputs change only on success.
 *
 *   fuzz_checkpoint                 some thousands of damaged good files, the same ones every time
 *   fuzz_checkpoint FILE...         these files
 *   fuzz_checkpoint --seeds FOLDER  writes the good files, to start libFuzzer with
 *
 * For libFuzzer, compile this file and those of lib/ with clang,
 * -fsanitize=fuzzer,address,undefined and -DNPAGG_LIBFUZZER.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <npagg/npagg.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int cond, const char *what)
{
    if (cond)
        return;
    fprintf(stderr, "fuzz_checkpoint: %s\n", what);
    abort();
}

/* The one file that all inputs go through. */
static const char *write_input(const uint8_t *data, size_t size)
{
    static char path[] = "/tmp/npagg-fuzz-XXXXXX";
    static int fd = -1;
    if (fd < 0)
        fd = mkstemp(path);
    demand(fd >= 0, "no temporary file");
    demand(size == 0 || pwrite(fd, data, size, 0) == (ssize_t)size, "cannot write the file");
    demand(ftruncate(fd, (off_t)size) == 0, "cannot cut the file");
    return path;
}

static void demand_status(npagg_status status)
{
    demand(status == NPAGG_OK || status == NPAGG_E_FORMAT || status == NPAGG_E_NOMEM,
           "another status than ok, format or memory");
}

static void load_arrays(npagg_ctx *ctx, const npagg_model *model, const char *path)
{
    const int64_t n = npagg_model_param_count(model);
    float extra[3] = {1, 2, 3};
    float *params = malloc((size_t)n * sizeof *params + 1);
    demand(params != NULL, "no memory");
    demand_status(npagg_model_load_params_f32(ctx, model, path, params));
    if (npagg_model_load_extra_f32(ctx, path, "extra", 3, extra) != NPAGG_OK)
        demand(extra[0] == 1 && extra[2] == 3, "an extra was changed by a failure");
    free(params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npagg_ctx *ctx = NULL;
    npagg_model *model = NULL;
    const char *path = write_input(data, size);
    demand(npagg_ctx_create(&ctx) == NPAGG_OK, "no context");
    const npagg_status status = npagg_model_load(ctx, path, &model);
    demand_status(status);
    demand((status == NPAGG_OK) == (model != NULL), "a model without success, or none with it");
    demand(status == NPAGG_OK || npagg_ctx_error(ctx)[0] != '\0', "a failure without a text");
    if (model)
        load_arrays(ctx, model, path);
    npagg_model_destroy(model);
    npagg_ctx_destroy(ctx);
    return 0;
}

#ifndef NPAGG_LIBFUZZER

#include "check.h"
#include "folder.h"
#include "problem.h"
#include "shapes.h"

enum { ROUNDS = 6000, ROOM = 64 };

void setUp(void)
{
}

void tearDown(void)
{
}

static blob make_seed(folder *room, const shape *s)
{
    npagg_ctx *ctx = NULL;
    const char *path = folder_path(room, "seed");
    const float extra[3] = {1, 2, 3};
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    npagg_model *model = shape_create(ctx, s);
    float *params = draw_floats(1, npagg_model_param_count(model));
    ASSERT_OK(ctx, npagg_model_save_f32(ctx, model, params, path));
    ASSERT_OK(ctx, npagg_model_save_extra_f32(ctx, path, "extra", 3, extra));
    free(params);
    npagg_model_destroy(model);
    npagg_ctx_destroy(ctx);
    return blob_read(path);
}

/* Puts text over, or into, or takes bytes out of b, which has room for more. */
static void damage(test_rng *rng, blob *b)
{
    static const char *const words[] = {"\"",
                                        "\\",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "-1",
                                        "1e9",
                                        "0",
                                        "null",
                                        "true",
                                        "\\u0000",
                                        "[[[",
                                        "\"a\"",
                                        "9223372036854775807",
                                        "\xff",
                                        "1.5",
                                        "F64"};
    const char *word = words[rng_int(rng, 0, (int64_t)(sizeof words / sizeof words[0]) - 1)];
    const size_t length = strlen(word), at = (size_t)rng_int(rng, 0, (int64_t)b->size - 1);
    const int64_t what = rng_int(rng, 0, 5);
    if (what == 0)
        b->data[at] ^= (unsigned char)(1 << rng_int(rng, 0, 7));
    else if (what == 1 && at + length <= b->size)
        memcpy(b->data + at, word, length);
    else if (what == 2) {
        memmove(b->data + at + length, b->data + at, b->size - at);
        memcpy(b->data + at, word, length);
        b->size += length;
    } else if (what == 3 && at > 8) {
        const size_t rest = b->size - at,
                     gone = (size_t)rng_int(rng, 1, rest < 8 ? (int64_t)rest : 8);
        memmove(b->data + at, b->data + at + gone, rest - gone);
        b->size -= gone;
    } else if (what == 4)
        b->size = at + 1;
    else
        b->data[at % 8] = (unsigned char)rng_int(rng, 0, 255);
}

/* Repairs the length of the header, so that damage is met behind it too. */
static void mend_length(blob *b)
{
    for (size_t i = 8; b->size > 10 && i + 1 < b->size; i++)
        if (b->data[i] == '}' && (b->data[i + 1] == ' ' || b->data[i + 1] >= 0x80)) {
            memset(b->data, 0, 8);
            b->data[0] = (unsigned char)(i - 7);
            b->data[1] = (unsigned char)((i - 7) >> 8);
            return;
        }
}

static void run_damaged(test_rng *rng, const blob *seed)
{
    blob b = {malloc(seed->size + ROOM * 32), seed->size};
    memcpy(b.data, seed->data, seed->size);
    for (int64_t n = rng_int(rng, 1, 6); n > 0 && b.size > 0; n--)
        damage(rng, &b);
    if (rng_int(rng, 0, 1))
        mend_length(&b);
    LLVMFuzzerTestOneInput(b.data, b.size);
    blob_free(&b);
}

static void test_damaged_checkpoints_never_crash(void)
{
    folder room;
    test_rng rng = {20};
    folder_create(&room);
    for (int i = 0; i < SHAPES; i++) {
        blob seed = make_seed(&room, &shapes[i]);
        LLVMFuzzerTestOneInput(seed.data, seed.size);
        for (int j = 0; j < ROUNDS / SHAPES; j++)
            run_damaged(&rng, &seed);
        blob_free(&seed);
    }
    unlink(write_input(NULL, 0));
    folder_destroy(&room);
}

static void write_seeds(const char *to)
{
    folder room;
    folder_create(&room);
    for (int i = 0; i < SHAPES; i++) {
        char path[512];
        blob seed = make_seed(&room, &shapes[i]);
        snprintf(path, sizeof path, "%s/seed%d", to, i);
        blob_write(path, seed.data, seed.size);
        blob_free(&seed);
    }
    folder_destroy(&room);
}

static void run_file(const char *path)
{
    blob b = blob_read(path);
    LLVMFuzzerTestOneInput(b.data, b.size);
    blob_free(&b);
}

int main(int argc, char **argv)
{
    UNITY_BEGIN();
    if (argc == 3 && strcmp(argv[1], "--seeds") == 0)
        write_seeds(argv[2]);
    else if (argc > 1)
        for (int i = 1; i < argc; i++)
            run_file(argv[i]);
    else
        RUN_TEST(test_damaged_checkpoints_never_crash);
    return UNITY_END();
}

#endif
