/*
 * Reader of the golden vectors' text format: named scalars and dense row-major arrays.
 *
 *   # comment, to the end of the line
 *   case NAME
 *   scalar NAME VALUE
 *   array NAME f64|i64 NDIM D0 D1 ..   then D0*D1*.. values
 *   end
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <stddef.h>
#include <stdint.h>

#define GOLDEN_MAX_DIMS 8

typedef struct golden golden;

/*
 * The whole file, or NULL with "path:line: what is wrong" in error [size]. Names are unique, every
 * array has all its values, i64 values are integers below 2^53, and `end` is the last word.
 */
golden *golden_load(const char *path, char *error, size_t size);

/* The same from text [length]; path is only for the messages. */
golden *golden_parse(const char *path, const char *text, size_t length, char *error, size_t size);

/* NULL is fine. */
void golden_destroy(golden *g);

/* The scalar, or `otherwise` if there is none of that name. */
double golden_scalar_or(const golden *g, const char *name, double otherwise);

/* The values of the array and in *count their number; NULL if there is none of that name. */
const double *golden_find(const golden *g, const char *name, int64_t *count);

/* Like the two above, but what is missing, or an array that has not n values, fails the test. */
double golden_scalar(const golden *g, const char *name);
const double *golden_array(const golden *g, const char *name, int64_t n);

#endif /* GOLDEN_H */
