/* float kernels. */
#define NP_REAL_BITS 32

#include "kernel_agreement.h"
