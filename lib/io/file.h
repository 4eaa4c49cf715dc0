/*
 * Files: reading at a place, and replacing a file as a whole.
 *
 * An output is written beside its final name and renamed over it when all of it is on the disk, so
 * whoever opens the name finds the old file or the new one. Failures are NPAGG_E_IO with the path
 * and what the system said.
 */
#ifndef NP_FILE_H
#define NP_FILE_H

#include <npagg/types.h>

#include "io/label.h"

enum { NP_PATH_SIZE = 4096 };

typedef struct np_input {
    np_label label;
    int fd;
    int64_t bytes;
} np_input;

/* A regular file for reading, and its size. */
npagg_status np_input_open(npagg_ctx *ctx, const char *path, np_input *input);
npagg_status np_input_read(npagg_ctx *ctx, const np_input *input, int64_t at, int64_t bytes,
                           void *out);
void np_input_close(np_input *input);

typedef struct np_output {
    np_label label;
    int fd; /* of the temporary file; -1 once it is closed */
    char path[NP_PATH_SIZE];
    char temporary[NP_PATH_SIZE + 64];
} np_output;

/*
 * Begins a file that shall have this name. A symbolic link is followed, so that the link stays; the
 * permissions are those of the file that is there, else what the umask leaves.
 */
npagg_status np_output_open(npagg_ctx *ctx, const char *path, np_output *output);
npagg_status np_output_write(npagg_ctx *ctx, np_output *output, int64_t bytes, const void *data);

/* Flushes and renames. */
npagg_status np_output_commit(npagg_ctx *ctx, np_output *output);

/* Ends without a trace; after a commit it does nothing. */
void np_output_close(np_output *output);

#endif /* NP_FILE_H */
