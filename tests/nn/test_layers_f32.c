#define NP_REAL_BITS 32
#include "layer_agreement.h"
