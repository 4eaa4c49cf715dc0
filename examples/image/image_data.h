/* The images that --data, --classes and --transpose say: to train on, and to test on. */
#ifndef IMAGE_DATA_H
#define IMAGE_DATA_H

#include "image_tasks.h"
#include "options.h"

typedef struct {
    const char *data, *classes_text; /* the options */
    int64_t transpose, no_transpose;
    int64_t checksum, kept[CLASSES_WORDS]; /* what a run keeps: of the training set, the classes */
    int classes_given;
    char name[128];   /* "emnist-npsplit" */
    char where[4200]; /* the option and the classes */
    image_set train, test;
    class_set classes;
    image_choice chosen, seen, unseen; /* of train; of test, of the classes and of the others */
} image_data;

void image_data_offer(option_set *set, image_data *d);

/* 0, or -1 after a complaint. */
int image_data_load(image_data *d, int classes_given, int test_only);
void image_data_destroy(image_data *d);

/* The classes are those that a file kept, unless they were given. */
void image_data_restore(image_data *d);

/* The same for a run that goes on, whose classes must be those; -1 with set->error. */
int image_data_finish(image_data *d, option_set *set);

/* Images of the training set that are of the classes. */
int64_t image_data_count(const image_data *d);

/* Fills chosen, seen and unseen. 0, or -1 after a complaint. */
int image_data_choose(image_data *d);

#endif /* IMAGE_DATA_H */
