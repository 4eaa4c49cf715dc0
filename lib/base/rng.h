/*
 * Counter-based random numbers: the i-th number of a (seed, stream) is a pure function of the
 * three, the same bits on every machine and in any order. Only + - * / and sqrt, each rounded as
 * IEEE 754 says, so this file is compiled without contraction.
 */
#ifndef NP_RNG_H
#define NP_RNG_H

#include <stdint.h>

/* Seeds are mixed with what the numbers are for, so that a host may use one seed for everything:
 * noise takes a seed as it is, uniform numbers and first parameters take it ^ these. */
#define NP_RNG_UNIFORM UINT64_C(0x756e69666f726d73)
#define NP_RNG_INIT UINT64_C(0x706172616d657472)

/* 64 well-mixed bits. */
uint64_t np_rng_bits(uint64_t seed, uint64_t stream, uint64_t i);

/* Uniform in (0, 1): odd multiples of 2^-53. */
double np_rng_uniform(uint64_t seed, uint64_t stream, uint64_t i);

/* Standard normal, by inverting the distribution function. */
double np_rng_normal(uint64_t seed, uint64_t stream, uint64_t i);

#endif /* NP_RNG_H */
