/*
 * The version this program was compiled against; npagg_version() is the one that was loaded.
 *
 * Before 1.0 the minor number counts ABI breaks and is the soversion; from 1.0 on the major number
 * is. meson.build reads these three lines.
 */
#ifndef NPAGG_VERSION_H
#define NPAGG_VERSION_H

#define NPAGG_VERSION_MAJOR 0
#define NPAGG_VERSION_MINOR 1
#define NPAGG_VERSION_PATCH 0

#endif /* NPAGG_VERSION_H */
