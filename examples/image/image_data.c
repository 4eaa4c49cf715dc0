#include "image_data.h"

#include <stdio.h>
#include <string.h>

#include "complain.h"
#include "data_files.h"
#include "glyphs.h"
#include "idx_file.h"

/* Of the glyphs: images a class, and seeds. */
enum { GLYPHS_TRAIN = 200, GLYPHS_TEST = 50, SEED_TRAIN = 1, SEED_TEST = 2 };

void image_data_offer(option_set *set, image_data *d)
{
    static const char *const names[CLASSES_WORDS] = {"classes-a", "classes-b", "classes-c",
                                                     "classes-d", "classes-e"};
    d->classes_text = "0-9";
    options_heading(set, "Data:");
    options_text(set, "data", &d->data, "DIR|FILE[,FILE]",
                 "folder with IDX files of training and test images, or the files, or synthetic");
    options_text(set, "classes", &d->classes_text, "0-9,...",
                 "labels to train on; the others of the test set are \"unseen\" [0-9]");
    options_flag(set, "transpose", &d->transpose, KEEP_NOT,
                 "rows of the files are columns [if they are called emnist...]");
    options_flag(set, "no-transpose", &d->no_transpose, KEEP_NOT, "they are rows");
    options_hidden(set, "data-checksum", &d->checksum, KEEP_RUN);
    for (int i = 0; i < CLASSES_WORDS; i++)
        options_hidden(set, names[i], &d->kept[i], KEEP_RUN);
}

static int load_set(const char *images, int transposed, image_set *out)
{
    char labels[PATH_ROOM];
    if (data_files_labels(images, labels) || idx_load(images, labels, out))
        return -1;
    if (out->height * out->width < 2 * TASK_LEAST)
        return complain("%s: images of %lld x %lld pixels, want %d pixels at least", images,
                        (long long)out->height, (long long)out->width, 2 * TASK_LEAST);
    if (transposed)
        images_transpose(out);
    return 0;
}

static int load_files(image_data *d, int test_only)
{
    data_files files;
    if (data_files_find(d->data, test_only, &files))
        return -1;
    const int transposed = d->transpose || (files.transposed && !d->no_transpose);
    memcpy(d->name, files.name, sizeof d->name);
    if (load_set(files.test, transposed, &d->test))
        return -1;
    if (test_only)
        return 0;
    if (load_set(files.train, transposed, &d->train))
        return -1;
    if (d->train.height == d->test.height && d->train.width == d->test.width)
        return 0;
    return complain("%s has images of another size than %s", files.train, files.test);
}

static void draw_sets(image_data *d, int test_only)
{
    snprintf(d->name, sizeof d->name, "synthetic");
    glyphs_draw(SEED_TEST, GLYPHS_TEST, &d->test);
    if (!test_only)
        glyphs_draw(SEED_TRAIN, GLYPHS_TRAIN, &d->train);
}

int image_data_load(image_data *d, int classes_given, int test_only)
{
    d->classes_given = classes_given;
    if (!d->data)
        return complain("--data is missing; --data synthetic needs no files");
    if (d->transpose && d->no_transpose)
        return complain("--transpose and --no-transpose exclude each other");
    if (classes_read(d->classes_text, &d->classes))
        return complain("--classes %s: want labels from 0 to 255, such as 0-9 or 0-4,7",
                        d->classes_text);
    classes_pack(&d->classes, d->kept);
    snprintf(d->where, sizeof d->where, "%s", d->data);
    if (!strcmp(d->data, "synthetic"))
        draw_sets(d, test_only);
    else if (load_files(d, test_only))
        return -1;
    if (!test_only)
        d->checksum = images_checksum(&d->train);
    return 0;
}

static void forget_choices(image_data *d)
{
    images_forget(&d->chosen);
    images_forget(&d->seen);
    images_forget(&d->unseen);
}

void image_data_destroy(image_data *d)
{
    forget_choices(d);
    images_destroy(&d->train);
    images_destroy(&d->test);
}

void image_data_restore(image_data *d)
{
    if (!d->classes_given)
        classes_unpack(d->kept, &d->classes);
}

int image_data_finish(image_data *d, option_set *set)
{
    class_set kept;
    char text[200];
    classes_unpack(d->kept, &kept);
    if (d->classes_given && memcmp(&kept, &d->classes, sizeof kept)) {
        classes_print(&kept, text, sizeof text);
        snprintf(set->error, sizeof set->error, "--classes is %s, but %s in the run to resume",
                 d->classes_text, text);
        return -1;
    }
    d->classes = kept;
    return 0;
}

int64_t image_data_count(const image_data *d)
{
    int64_t n = 0;
    for (int64_t i = 0; i < d->train.n; i++)
        n += d->classes.has[d->train.labels[i]];
    return n;
}

int image_data_choose(image_data *d)
{
    char text[200];
    forget_choices(d);
    classes_print(&d->classes, text, sizeof text);
    images_choose(&d->test, &d->classes, 1, &d->seen);
    images_choose(&d->test, &d->classes, 0, &d->unseen);
    if (d->seen.n == 0)
        return complain("--data %s: the test set has no image of classes %s", d->where, text);
    if (!d->train.n)
        return 0;
    images_choose(&d->train, &d->classes, 1, &d->chosen);
    if (d->chosen.n == 0)
        return complain("--data %s: the training set has no image of classes %s", d->where, text);
    return 0;
}
