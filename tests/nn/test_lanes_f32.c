#define NP_REAL_BITS 32
#include "lanes_agreement.h"
