#define NP_REAL_BITS 64
#include "layer_agreement.h"
