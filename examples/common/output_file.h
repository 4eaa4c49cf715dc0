/* Files of results: what could not be written, to a full disk say, is told. */
#ifndef OUTPUT_FILE_H
#define OUTPUT_FILE_H

#include <stdio.h>

/* NULL after a complaint. */
FILE *output_open(const char *path);

/* 0, or -1 after a complaint if not all of it was written. */
int output_close(FILE *file, const char *path);

#endif /* OUTPUT_FILE_H */
