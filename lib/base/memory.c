#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { ALIGNMENT = NP_APART };

static void *default_alloc(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, new_size);
}

np_memory np_memory_default(void)
{
    return (np_memory){default_alloc, NULL};
}

void *np_memory_get(np_memory mem, size_t size)
{
    void *p = mem.alloc(mem.user, NULL, 0, size);
    if (p)
        memset(p, 0, size);
    return p;
}

void np_memory_free(np_memory mem, void *p, size_t size)
{
    if (p)
        mem.alloc(mem.user, p, size, 0);
}

void np_buffer_free(np_memory mem, np_buffer *buffer)
{
    np_memory_free(mem, buffer->block, buffer->block_size);
    *buffer = (np_buffer){0};
}

int np_buffer_reserve(np_memory mem, np_buffer *buffer, size_t size)
{
    if (size <= buffer->size)
        return 0;
    np_buffer_free(mem, buffer);
    if (size > SIZE_MAX - ALIGNMENT)
        return -1;
    void *block = mem.alloc(mem.user, NULL, 0, size + ALIGNMENT);
    if (!block)
        return -1;
    uintptr_t base = ((uintptr_t)block + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    *buffer = (np_buffer){(char *)base, size, block, size + ALIGNMENT};
    return 0;
}
