/*
 * Kinds of encoders: each a table of functions. The public functions check, lay out memory and
 * parameters, and call; a new kind is a new file.
 */
#ifndef NP_ENCODER_KIND_H
#define NP_ENCODER_KIND_H

#include "encode/encoding.h"

typedef struct NP_REAL(np_encoder_table) {
    /* What is known before memory is; chunks too. is_kept is set. */
    void (*begin)(np_encoding *e);
    /* From the arena twice: what the cache keeps, if is_kept; then scratch, with what would have
     * been kept if there is no cache. */
    void (*keep_take)(np_arena *arena, np_encoding *e);
    void (*forward_take)(np_arena *arena, np_encoding *e);
    void (*backward_take)(np_arena *arena, np_encoding *e);
    void (*forward)(np_encoding *e);
    void (*backward)(np_encoding *e);
} NP_REAL(np_encoder_table);
#define np_encoder_table NP_REAL(np_encoder_table)

extern const np_encoder_table NP_REAL(np_encoder_mlp);
extern const np_encoder_table NP_REAL(np_encoder_mean);
extern const np_encoder_table NP_REAL(np_encoder_attention);

#endif /* NP_ENCODER_KIND_H */
