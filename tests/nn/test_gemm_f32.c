#define NP_REAL_BITS 32
#include "gemm_agreement.h"
