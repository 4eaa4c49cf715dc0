/* The C++ binding of libnpagg, by its short name. */
#include <npagg/npagg.hpp>
