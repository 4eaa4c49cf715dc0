#include "complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *name = "npagg";

void complain_as(const char *program)
{
    name = program;
}

int complain(const char *format, ...)
{
    va_list args;
    fflush(stdout);
    fprintf(stderr, "%s: ", name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return -1;
}

void *take(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p) {
        complain("out of memory: wanted %zu times %zu bytes", n, size);
        exit(1);
    }
    return p;
}
