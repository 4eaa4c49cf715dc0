/* Good files whose header says something else than a model: each is refused with its message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "check.h"
#include "folder.h"
#include "model/model.h"
#include "shapes.h"

static folder room;
static npagg_ctx *ctx;
static npagg_model *model;
static const char *path;
static blob good;
static size_t length; /* of its header */

/* A good file of this shape. */
static void save_good(const shape *s)
{
    blob_free(&good);
    npagg_model_destroy(model);
    model = shape_create(ctx, s);
    path = folder_path(&room, "x");
    float *params = draw_floats(1, model->p);
    ASSERT_OK(ctx, npagg_model_save_f32(ctx, model, params, path));
    free(params);
    good = blob_read(path);
    length = (size_t)good.data[0] + 256u * good.data[1];
}

void setUp(void)
{
    folder_create(&room);
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    model = NULL;
    good = (blob){0};
    save_good(&shapes[1]);
}

void tearDown(void)
{
    blob_free(&good);
    npagg_model_destroy(model);
    npagg_ctx_destroy(ctx);
    folder_destroy(&room);
}

static json_t *header_of_good(void)
{
    json_t *header = json_loadb((const char *)good.data + 8, length, 0, NULL);
    TEST_ASSERT_NOT_NULL(header);
    return header;
}

/* The good data under another header, which is given back. */
static void write_header(json_t *header)
{
    const size_t size = json_dumpb(header, NULL, 0, 0), data = good.size - 8 - length;
    unsigned char *bytes = calloc(1, 8 + size + data);
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)size >> (8 * i));
    json_dumpb(header, (char *)bytes + 8, size, 0);
    memcpy(bytes + 8 + size, good.data + 8 + length, data);
    blob_write(path, bytes, 8 + size + data);
    json_decref(header);
    free(bytes);
}

/* Every way to read it fails alike and leaves no trace. */
static void check_refused(const char *text)
{
    npagg_model *out = NULL;
    float *before = draw_floats(9, model->p), *after = draw_floats(9, model->p);
    ASSERT_FAILS(ctx, NPAGG_E_FORMAT, text, npagg_model_load(ctx, path, &out));
    ASSERT_FAILS(ctx, NPAGG_E_FORMAT, text, npagg_model_load_params_f32(ctx, model, path, after));
    ASSERT_FAILS(ctx, NPAGG_E_FORMAT, text, npagg_model_load_extra_f32(ctx, path, "e", 1, after));
    ASSERT_FAILS(ctx, NPAGG_E_FORMAT, text, npagg_model_save_extra_f32(ctx, path, "e", 1, after));
    ASSERT_SAME_BITS(model->p * (int64_t)sizeof(float), before, after);
    TEST_ASSERT_NULL(out);
    TEST_ASSERT_EQUAL_INT(1, folder_count(&room));
    free(before), free(after);
}

typedef struct {
    const char *key, *value, *text;
} change;

static const change changes[] = {
    {"npagg.format", "0", "'npagg.format' = '0', want a value in its range"},
    {"npagg.format", "-1", "'npagg.format' = '-1', want a value in its range"},
    {"npagg.format", "2", "format 2 is of a later version, this one reads up to 1"},
    {"npagg.format", "one", "'npagg.format' = 'one', want an integer"},
    {"encoder.kind", "transformer", "'encoder.kind' = 'transformer', want a word"},
    {"encoder.x_dim", "", "'encoder.x_dim' = '', want an integer"},
    {"encoder.x_dim", "-1", "no such model: encoder_create: x_dim = -1, want >= 0"},
    {"encoder.x_dim", "99999999999999999999", "want an integer"},
    {"encoder.x_dim", "1", "no such model: model_create: decoder x_dim = 2, want 1"},
    {"encoder.y_dim", "0", "no such model: encoder_create: y_dim = 0"},
    {"encoder.y_dim", "9223372036854775807", "no such model: encoder_create"},
    {"encoder.y_dim", "3.0", "'encoder.y_dim' = '3.0', want an integer"},
    {"encoder.d", "0", "no such model: encoder_create: d = 0"},
    {"encoder.d", "4", "no such model: model_create: encoder d = 4, want 5"},
    {"encoder.d", "4611686018427387904", "no such model: encoder_create"},
    {"encoder.widths", "7,", "'encoder.widths' = '7,', want integers with commas"},
    {"encoder.widths", ",7", "want integers with commas between them"},
    {"encoder.widths", "7 8", "'encoder.widths' = '7 8', want integers"},
    {"encoder.widths", "0", "no such model: encoder_create"},
    {"encoder.widths", "-7", "no such model: encoder_create"},
    {"encoder.widths", "8", "tensor 'encoder.trunk.0.weight' has shape [7,5]"},
    {"encoder.widths", "7,7", "tensor 'encoder.trunk.1.weight' of the model is missing"},
    {"encoder.widths",
     "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
     "want a shorter list"},
    {"encoder.widths", "9223372036854775807", "no such model: encoder_create"},
    {"encoder.widths", "", "'encoder.trunk' = '1', want a value in its range"},
    {"encoder.activation", "Relu", "'encoder.activation' = 'Relu', want a word"},
    {"encoder.var_lo", "0", "'encoder.var_lo' = '0', want a value in its range"},
    {"encoder.var_lo", "1", "'encoder.var_lo' = '1', want a value in its range"},
    {"encoder.var_lo", "nan", "'encoder.var_lo' = 'nan', want a number"},
    {"encoder.var_hi", "inf", "'encoder.var_hi' = 'inf', want a number"},
    {"encoder.var_hi", "1,5", "'encoder.var_hi' = '1,5', want a number"},
    {"encoder.trunk", "2", "'encoder.trunk' = '2', want a value in its range"},
    {"encoder.trunk", "0", "tensor 'encoder.mean.0.weight' has shape [5,7]"},
    {"encoder.trunk", "4294967297", "'encoder.trunk' = '4294967297', want an integer of 32 bits"},
    {"prior.kind", "", "'prior.kind' = '', want a word"},
    {"prior.kind", "gaussian", "'prior.k' = '3', want a value in its range"},
    {"prior.d", "6", "no such model: model_create: encoder d = 5, want 6"},
    {"prior.d", "9223372036854775807", "no such model: prior_create"},
    {"prior.k", "0", "no such model: prior_create: k = 0"},
    {"prior.k", "2", "tensor 'prior.mean' has shape [3,5], the model's has [2,5]"},
    {"prior.robust", "1", "no such model: model_create: elbo_closed wants"},
    {"prior.robust", "yes", "'prior.robust' = 'yes', want an integer"},
    {"vmp.max_iters", "0", "'vmp.max_iters' = '0', want a value in its range"},
    {"vmp.tolerance", "-1e-3", "'vmp.tolerance' = '-1e-3', want a value in its range"},
    {"vmp.grad", "none", "'vmp.grad' = 'none', want a word"},
    {"decoder.kind", "cnn", "'decoder.kind' = 'cnn', want a word"},
    {"decoder.y_dim", "2", "no such model: model_create: decoder y_dim = 2, want 3"},
    {"decoder.d", "-5", "no such model: decoder_create: d = -5"},
    {"decoder.widths", "6,5", "tensor 'decoder.mean.2.weight' has shape [4,5]"},
    {"decoder.activation", "swish", "'decoder.activation' = 'swish', want a word"},
    {"decoder.likelihood", "poisson", "'decoder.likelihood' = 'poisson', want a word"},
    {"decoder.sd_floor", "1", "'decoder.sd_floor' = '1', want a value in its range"},
    {"objective.kind", "\xc3\xa4", "'objective.kind' = '\?\?', want a word"},
    {"objective.points", "context", "'objective.points' = 'context', want a word"},
    {"objective.normalise", "mean", "'objective.normalise' = 'mean', want a word"},
    {"objective.samples", "0", "'objective.samples' = '0', want a value in its range"},
    {"objective.samples", "2", "no such model: model_create: 2 samples, want at least 3"},
    {"objective.sampling", "random", "'objective.sampling' = 'random', want a word"},
    {"objective.kl", "exact", "'objective.kl' = 'exact', want a word"},
};

/* Of a model with attention. */
static const change changes_of_sets[] = {
    {"encoder.kind", "mlp", "no such model: model_create: prior is NULL"},
    {"encoder.widths", "", "no such model: encoder_create: n_pre = 0, want 1..32"},
    {"encoder.widths", "5,7", "n_heads = 3, want >= 1 and a divisor"},
    {"encoder.widths", "5,9", "tensor 'encoder.pre.1.weight' has shape [6,5]"},
    {"encoder.post_widths", "", "no such model: encoder_create: n_post = 0, want 1..32"},
    {"encoder.post_widths", "4,", "want integers with commas between them"},
    {"encoder.post_widths", "-4", "no such model: encoder_create: post_widths[0] = -4"},
    {"encoder.post_widths", "4611686018427387904", "does not fit"},
    {"encoder.post_widths", "5", "tensor 'encoder.joint.0.weight' has shape [4,6]"},
    {"encoder.heads", "0", "no such model: encoder_create: n_heads = 0, want >= 1"},
    {"encoder.heads", "4", "n_heads = 4, want >= 1 and a divisor"},
    {"encoder.heads", "two", "'encoder.heads' = 'two', want an integer"},
    {"encoder.trunk", "1", "'encoder.trunk' = '1', want a value in its range"},
    {"prior.kind", "gaussian", "metadata 'prior.d' is missing"},
    {"objective.kind", "elbo_closed", "no such model: model_create: elbo_closed wants"},
};

static void refuse_changes(size_t n, const change *list)
{
    for (size_t i = 0; i < n; i++) {
        json_t *header = header_of_good();
        json_t *metadata = json_object_get(header, "__metadata__");
        json_object_set_new(metadata, list[i].key, json_string(list[i].value));
        write_header(header);
        check_refused(list[i].text);
    }
}

static void test_every_wrong_setting_is_refused_with_its_message(void)
{
    refuse_changes(sizeof changes / sizeof changes[0], changes);
    save_good(&shapes[8]);
    refuse_changes(sizeof changes_of_sets / sizeof changes_of_sets[0], changes_of_sets);
}

static void test_a_prior_beside_an_encoder_of_sets_is_refused(void)
{
    const change prior[] = {{"prior.kind", "gaussian", NULL}, {"prior.d", "2", NULL},
                            {"prior.k", "1", NULL},           {"prior.robust", "0", NULL},
                            {"vmp.max_iters", "5", NULL},     {"vmp.tolerance", "0", NULL},
                            {"vmp.grad", "unroll", NULL}};
    save_good(&shapes[8]);
    json_t *header = header_of_good(), *metadata = json_object_get(header, "__metadata__");
    for (int i = 0; i < 7; i++)
        json_object_set_new(metadata, prior[i].key, json_string(prior[i].value));
    write_header(header);
    check_refused("no such model: model_create: prior is given, want NULL");
}

static void refuse_missing(int least)
{
    int n = 0;
    json_t *all = header_of_good(), *settings = json_object_get(all, "__metadata__");
    for (void *it = json_object_iter(settings); it; it = json_object_iter_next(settings, it)) {
        const char *key = json_object_iter_key(it);
        char text[100];
        if (strcmp(key, "npagg.version") == 0)
            continue; /* for people */
        json_t *header = header_of_good();
        json_object_del(json_object_get(header, "__metadata__"), key);
        write_header(header);
        snprintf(text, sizeof text, "metadata '%s' is missing", key);
        check_refused(text);
        n++;
    }
    TEST_ASSERT_GREATER_OR_EQUAL_INT(least, n);
    json_decref(all);
}

static void test_every_missing_setting_is_named(void)
{
    refuse_missing(30);
    save_good(&shapes[8]);
    refuse_missing(25);
}

static void test_no_metadata_is_no_checkpoint(void)
{
    json_t *header = header_of_good();
    json_object_del(header, "__metadata__");
    write_header(header);
    check_refused("no __metadata__: not a checkpoint of npagg");
}

static void test_every_missing_tensor_is_named(void)
{
    for (int64_t i = 0; i < model->n_tensors; i++) {
        char text[128];
        json_t *header = header_of_good();
        const char *name = model->tensors[i].name;
        json_object_set(header, "renamed", json_object_get(header, name));
        json_object_del(header, name);
        write_header(header);
        snprintf(text, sizeof text, "tensor '%s' of the model is missing", name);
        check_refused(text);
    }
}

static void change_tensor(const char *field, json_t *value, const char *text)
{
    json_t *header = header_of_good();
    json_t *tensor = json_object_get(header, "encoder.trunk.0.weight");
    json_object_set_new(tensor, field, value);
    write_header(header);
    check_refused(text);
}

static void test_tensors_of_another_shape_or_type_are_refused(void)
{
    change_tensor("shape", json_pack("[i, i]", 5, 7), "has shape [5,7], the model's has [7,5]");
    change_tensor("shape", json_pack("[i]", 35), "has shape [35], the model's has [7,5]");
    change_tensor("shape", json_pack("[i, i, i]", 7, 5, 1), "has shape [7,5,1], the model's");
    change_tensor("shape", json_pack("[i, i]", 35, 1), "has shape [35,1], the model's has [7,5]");
    change_tensor("dtype", json_string("I32"), "is I32, want F32 or F64");
}

static void test_a_checkpoint_cut_anywhere_is_refused(void)
{
    float *params = draw_floats(9, model->p);
    for (size_t size = 0; size < good.size; size++) {
        npagg_model *out = NULL;
        blob_write(path, good.data, size);
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_FORMAT, npagg_model_load(ctx, path, &out));
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_FORMAT,
                                npagg_model_load_params_f32(ctx, model, path, params));
    }
    free(params);
}

/* One byte wrong: it loads or it is refused, and nothing else. */
static void test_any_one_byte_of_a_checkpoint_may_be_wrong(void)
{
    float *params = draw_floats(9, model->p);
    for (size_t i = 0; i < 8 + length; i++) {
        const unsigned char byte = good.data[i], junk[3] = {(unsigned char)(byte ^ 1), '9', 0xff};
        for (int j = 0; j < 3; j++) {
            npagg_model *out = NULL;
            good.data[i] = junk[j];
            blob_write(path, good.data, good.size);
            const npagg_status status = npagg_model_load(ctx, path, &out);
            TEST_ASSERT_TRUE(status == NPAGG_OK || status == NPAGG_E_FORMAT);
            TEST_ASSERT_TRUE((status == NPAGG_OK) == (out != NULL));
            npagg_model_destroy(out);
            npagg_model_load_params_f32(ctx, model, path, params);
        }
        good.data[i] = byte;
    }
    free(params);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_wrong_setting_is_refused_with_its_message);
    RUN_TEST(test_a_prior_beside_an_encoder_of_sets_is_refused);
    RUN_TEST(test_every_missing_setting_is_named);
    RUN_TEST(test_no_metadata_is_no_checkpoint);
    RUN_TEST(test_every_missing_tensor_is_named);
    RUN_TEST(test_tensors_of_another_shape_or_type_are_refused);
    RUN_TEST(test_a_checkpoint_cut_anywhere_is_refused);
    RUN_TEST(test_any_one_byte_of_a_checkpoint_may_be_wrong);
    return UNITY_END();
}
