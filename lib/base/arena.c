#include "base/arena.h"

#include "base/size.h"

void *np_arena_take(np_arena *arena, int64_t rows, int64_t columns, size_t size)
{
    int64_t count, bytes, end;
    if (!np_size_mul(rows, columns, &count) || !np_size_mul(count, (int64_t)size, &bytes) ||
        !np_size_add(bytes, NP_APART - 1, &bytes) ||
        !np_size_add((int64_t)arena->used, bytes & ~(int64_t)(NP_APART - 1), &end)) {
        arena->overflow = 1;
        return NULL;
    }
    void *p = arena->base ? arena->base + arena->used : NULL;
    arena->used = (size_t)end;
    return p;
}
