/* Assertions the tests share. Unity's float asserts have no absolute part, so these are our own. */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>

#include <npagg/npagg.h>
#include <unity.h>

/* |got - want| <= rtol |want| + atol; a NaN never passes, equal infinities do. */
#define ASSERT_CLOSE(want, got, rtol, atol)                                                        \
    check_close((want), (got), (rtol), (atol), #got, __LINE__)

/* max_i |got_i - want_i| <= tol max_i |want_i| + atol over n entries: relative to the largest
 * entry. */
#define ASSERT_ALL_CLOSE(n, want, got, tol, atol)                                                  \
    check_all_close((n), (want), (got), (tol), (atol), #got, __LINE__)
#define ASSERT_ALL_FINITE(n, got) check_all_finite((n), (got), #got, __LINE__)

/* Same bytes; says the first index that differs. */
#define ASSERT_SAME_BITS(bytes, want, got) check_same_bits((bytes), (want), (got), #got, __LINE__)

/* A call that must succeed; the context's error text is in the message if it does not. */
#define ASSERT_OK(ctx, call) check_status((ctx), NPAGG_OK, (call), "", #call, __LINE__)

/* A call that must fail with this status and leave an error text that contains `text`. */
#define ASSERT_FAILS(ctx, status, text, call)                                                      \
    check_status((ctx), (status), (call), (text), #call, __LINE__)

void check_close(double want, double got, double rtol, double atol, const char *what, int line);
void check_all_close(int64_t n, const double *want, const double *got, double tol, double atol,
                     const char *what, int line);
void check_all_finite(int64_t n, const double *got, const char *what, int line);
void check_same_bits(int64_t bytes, const void *want, const void *got, const char *what, int line);
void check_status(const npagg_ctx *ctx, npagg_status want, npagg_status got, const char *text,
                  const char *call, int line);

#endif /* CHECK_H */
