/*
 * Handles and status codes.
 *
 * Every fallible function returns npagg_status: 0 for success, a negative code for failure. After a
 * failure every object and every output array is as it was before the call, except that a cache
 * given to a forward or backward is empty; npagg_ctx_error() has the text.
 */
#ifndef NPAGG_TYPES_H
#define NPAGG_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include <npagg/export.h>

NPAGG_BEGIN_DECLS

typedef int32_t npagg_status;

#define NPAGG_OK 0         /* done */
#define NPAGG_E_ARG -1     /* an argument is NULL, out of range or does not fit another */
#define NPAGG_E_NOMEM -2   /* the allocator returned NULL */
#define NPAGG_E_STATE -3   /* the cache does not hold what this call needs */
#define NPAGG_E_NUMERIC -4 /* a value is not finite, or has the wrong sign */
#define NPAGG_E_UNSUP -5   /* this build or this machine cannot do it */
#define NPAGG_E_IO -6      /* a file could not be read or written */
#define NPAGG_E_FORMAT -7  /* a file is not what it should be */

typedef struct npagg_ctx npagg_ctx; /* one per host thread: allocator, workers, scratch, error */
typedef struct npagg_cache npagg_cache; /* what one forward leaves for its backward */
typedef struct npagg_prior npagg_prior; /* shape of a graphical model; holds no numbers */
typedef struct npagg_vmp npagg_vmp;     /* settings of the message passing */
typedef struct npagg_encoder
    npagg_encoder; /* shape of the networks that turn points into factors */
typedef struct npagg_decoder npagg_decoder;     /* shape of the networks that turn z and x into y */
typedef struct npagg_objective npagg_objective; /* what a loss is */
typedef struct npagg_model npagg_model;         /* all of these as one function */

/*
 * The caller's allocator, in the manner of realloc: p is NULL or a block of old_size bytes,
 * new_size 0 frees it and the result is ignored. Alignment as malloc's is enough. NULL means out of
 * memory and leaves p as it was. It is called only by the thread that called the library.
 */
typedef void *(*npagg_alloc_fn)(void *user, void *p, size_t old_size, size_t new_size);

/* "NPAGG_E_ARG" and so on; "unknown status" for any other number. Never NULL. */
NPAGG_API const char *npagg_status_name(npagg_status status);

/* Version of the library that is loaded, "major.minor.patch". */
NPAGG_API const char *npagg_version(void);

NPAGG_END_DECLS

#endif /* NPAGG_TYPES_H */
