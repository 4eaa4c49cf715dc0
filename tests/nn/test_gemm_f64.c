#define NP_REAL_BITS 64
#include "gemm_agreement.h"
