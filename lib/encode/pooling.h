/* What encoders of sets share: the mean over points, and the networks behind it. */
#ifndef NP_POOLING_H
#define NP_POOLING_H

#include "encode/encoding.h"

/* As the functions of a kind, which call them with their own. */
void NP_REAL(np_pooling_begin)(np_encoding *e);
void NP_REAL(np_pooling_keep_take)(np_arena *arena, np_encoding *e);
void NP_REAL(np_pooling_forward_take)(np_arena *arena, np_encoding *e);
void NP_REAL(np_pooling_backward_take)(np_arena *arena, np_encoding *e);

/* m, v from rows, where e->from says that they are. */
void NP_REAL(np_pooling_forward)(np_encoding *e);

/* drows += from dm, dv. */
void NP_REAL(np_pooling_backward)(np_encoding *e);

#endif /* NP_POOLING_H */
