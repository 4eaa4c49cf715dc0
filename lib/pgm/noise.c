#include "pgm/noise.h"

const np_noise *const NP_REAL(np_noises)[NP_NOISE_KINDS] = {
    [NP_NOISE_GAUSSIAN] = &NP_REAL(np_gaussian_noise),
    [NP_NOISE_STUDENT] = &NP_REAL(np_student_noise),
};
