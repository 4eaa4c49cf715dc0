/* Marks what the library exports; everything else is hidden. */
#ifndef NPAGG_EXPORT_H
#define NPAGG_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define NPAGG_API __attribute__((visibility("default")))
#else
#define NPAGG_API
#endif

#ifdef __cplusplus
#define NPAGG_BEGIN_DECLS extern "C" {
#define NPAGG_END_DECLS }
#else
#define NPAGG_BEGIN_DECLS
#define NPAGG_END_DECLS
#endif

#endif /* NPAGG_EXPORT_H */
