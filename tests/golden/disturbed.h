/*
 * The float64 kernels with the roundings of float32: what they read and what they return is off by
 * a random u = 2^-24 of its size, all arithmetic is double. A number gets the same disturbance
 * wherever it is used, as rounding it would.
 *
 * The program is linked with --wrap=np_kernels_choose_f64, so that the library picks these.
 */
#ifndef DISTURBED_H
#define DISTURBED_H

#include <stdint.h>

/* From now on the library's float64 kernels are disturbed, by signs that follow from the seed. */
void disturbed_begin(uint64_t seed);
void disturbed_end(void);

#endif /* DISTURBED_H */
