#include "csv_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"

/* Rows of `from` that have been written whole and are not later than the step. */
static void copy_rows(FILE *from, int64_t step, FILE *to, double *seconds)
{
    char *line = NULL;
    size_t size = 0;
    for (ssize_t n; (n = getline(&line, &size, from)) > 0;) {
        char *end;
        const long long at = strtoll(line, &end, 10);
        if (end == line || at > step || line[n - 1] != '\n')
            continue;
        fputs(line, to);
        *seconds = *end == ',' ? strtod(end + 1, NULL) : 0;
    }
    free(line);
}

FILE *csv_log_open(const char *path, const char *header, int64_t step, double *seconds)
{
    char side[4200];
    FILE *old = step < 0 ? NULL : fopen(path, "r");
    *seconds = 0;
    snprintf(side, sizeof side, "%s.new", path);
    FILE *log = fopen(side, "w");
    if (log) {
        fprintf(log, "%s\n", header);
        if (old)
            copy_rows(old, step, log, seconds);
        fflush(log);
    }
    if (old)
        fclose(old);
    if (log && !ferror(log) && !rename(side, path))
        return log;
    complain("%s cannot be written: %s", path, strerror(errno));
    if (log) {
        fclose(log);
        remove(side);
    }
    return NULL;
}
