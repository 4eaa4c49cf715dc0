/* One clear line on stderr, and memory that is there. */
#ifndef COMPLAIN_H
#define COMPLAIN_H

#include <stddef.h>

/* The name that lines begin with. */
void complain_as(const char *program);

/* "program: text"; returns -1, so that one may write return complain(...). */
__attribute__((format(printf, 1, 2))) int complain(const char *format, ...);

/* n zeroed elements; a program that gets none says so and exits with 1. */
void *take(size_t n, size_t size);

#endif /* COMPLAIN_H */
