/* A folder of a test's own for the files it makes, and those files as bytes. */
#ifndef FOLDER_H
#define FOLDER_H

#include <stddef.h>
#include <stdint.h>

enum { FOLDER_PATHS = 16 };

typedef struct {
    char path[64];
    char buffer[FOLDER_PATHS][512]; /* of folder_path, in turn */
    int next;
} folder;

typedef struct {
    unsigned char *data;
    size_t size;
} blob;

/* What the folder has goes with it. */
void folder_create(folder *f);
void folder_destroy(folder *f);

/* "folder/name"; good for the next FOLDER_PATHS - 1 calls. */
const char *folder_path(folder *f, const char *name);

/* Number of files in it, hidden ones too. */
int folder_count(const folder *f);

void blob_write(const char *path, const void *data, size_t size);
blob blob_read(const char *path);
void blob_free(blob *b);

/* A safetensors file of this header and n bytes of data, each its own index. */
void write_safetensors(const char *path, const char *header, size_t n);

/* A private copy of a locale with a decimal comma is made if there is none; 0 without one. */
int set_comma_locale(folder *f);

#endif /* FOLDER_H */
