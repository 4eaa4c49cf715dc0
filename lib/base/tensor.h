/* Names and shapes of the tensors in a flat parameter array. */
#ifndef NP_TENSOR_H
#define NP_TENSOR_H

#include <stdint.h>

typedef struct np_tensor {
    char name[64];
    int64_t offset, rows, columns; /* columns 0: a vector of `rows` numbers */
} np_tensor;

#endif /* NP_TENSOR_H */
