/*
 * The version this program was compiled against; npagg_version() is the one that was loaded.
 *
 * Before 1.0 the minor number counts ABI breaks and the soversion is 0.minor; from 1.0 on it is the
 * major number. meson.build reads these three lines.
 */
#ifndef NPAGG_VERSION_H
#define NPAGG_VERSION_H

#define NPAGG_VERSION_MAJOR 0
#define NPAGG_VERSION_MINOR 1
#define NPAGG_VERSION_PATCH 0

#endif /* NPAGG_VERSION_H */
