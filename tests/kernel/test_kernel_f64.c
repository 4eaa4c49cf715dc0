/* double kernels. */
#define NP_REAL_BITS 64

#include "kernel_agreement.h"
