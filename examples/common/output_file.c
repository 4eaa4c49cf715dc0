#include "output_file.h"

#include <errno.h>
#include <string.h>

#include "complain.h"

FILE *output_open(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        complain("%s cannot be written: %s", path, strerror(errno));
    return file;
}

int output_close(FILE *file, const char *path)
{
    const int bad = fflush(file) != 0 || ferror(file), why = errno;
    return fclose(file) || bad ? complain("%s could not be written: %s", path, strerror(why)) : 0;
}
