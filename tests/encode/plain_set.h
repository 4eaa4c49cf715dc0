/* Encoders of sets in plain loops and long double, one set after the other. */
#ifndef PLAIN_SET_H
#define PLAIN_SET_H

#include "encoder_case.h"

/* m, v [D] of set b. */
void plain_set(const encoder_case *c, int64_t b, double *m, double *v);

#endif /* PLAIN_SET_H */
