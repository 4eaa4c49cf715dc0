/* A set of labels: "0-9", "0-4,7". */
#ifndef CLASSES_H
#define CLASSES_H

#include <stddef.h>
#include <stdint.h>

enum { CLASSES_MOST = 256, CLASSES_WORDS = 5 };

typedef struct {
    unsigned char has[CLASSES_MOST];
} class_set;

/* 0, or -1 if it makes no sense. */
int classes_read(const char *text, class_set *out);

/* As it is read, with + in place of commas. */
void classes_print(const class_set *set, char *out, size_t size);

/* The set as numbers that a checkpoint keeps, word [CLASSES_WORDS] of 52 bits. */
void classes_pack(const class_set *set, int64_t *word);
void classes_unpack(const int64_t *word, class_set *out);

#endif /* CLASSES_H */
