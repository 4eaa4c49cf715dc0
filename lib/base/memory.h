/* The caller's allocator, and aligned buffers that grow to a high-water mark. */
#ifndef NP_MEMORY_H
#define NP_MEMORY_H

#include <stddef.h>

#include <npagg/types.h>

typedef struct np_memory {
    npagg_alloc_fn alloc;
    void *user;
} np_memory;

/* malloc, realloc, free. */
np_memory np_memory_default(void);

/* A zeroed block, or NULL. */
void *np_memory_get(np_memory mem, size_t size);

/* Gives back a block of that size; NULL is fine. */
void np_memory_free(np_memory mem, void *p, size_t size);

typedef struct np_buffer {
    char *base; /* aligned to NP_APART, `size` bytes; NULL if empty */
    size_t size;
    void *block; /* what the allocator gave */
    size_t block_size;
} np_buffer;

/* At least `size` bytes; contents are lost if it grows. 0, or -1 if there is no memory: then it is
 * empty. */
int np_buffer_reserve(np_memory mem, np_buffer *buffer, size_t size);
void np_buffer_free(np_memory mem, np_buffer *buffer);

#endif /* NP_MEMORY_H */
