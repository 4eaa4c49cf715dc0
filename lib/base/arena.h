/*
 * Arenas: a layout function takes its arrays from an arena twice. The first time the arena has no
 * memory and only measures; then the caller reserves `used` bytes, and the second time the same
 * code gets its pointers. So sizes are written once, and whatever can fail has failed before any
 * work begins.
 */
#ifndef NP_ARENA_H
#define NP_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* What two workers write to lies this far apart: processors fetch cache lines in pairs. */
#define NP_APART 128

typedef struct np_arena {
    char *base; /* NULL: measuring */
    size_t used;
    int overflow; /* the sizes do not fit an address */
} np_arena;

/* rows * columns items of size bytes, aligned to NP_APART; NULL while measuring. */
void *np_arena_take(np_arena *arena, int64_t rows, int64_t columns, size_t size);

#define NP_TAKE(arena, count, type) NP_TAKE2((arena), (count), 1, type)
#define NP_TAKE2(arena, rows, columns, type)                                                       \
    ((type *)np_arena_take((arena), (rows), (columns), sizeof(type)))

#endif /* NP_ARENA_H */
