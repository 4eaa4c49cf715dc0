#define NP_REAL_BITS 64
#include "lanes_agreement.h"
