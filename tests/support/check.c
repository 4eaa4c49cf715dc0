#include "check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Unity keeps no copy of a message, and a failed assertion never returns: one buffer is enough. */
static char message[1024];

#define FAIL(line, ...)                                                                            \
    do {                                                                                           \
        snprintf(message, sizeof message, __VA_ARGS__);                                            \
        UNITY_TEST_FAIL((UNITY_LINE_TYPE)(line), message);                                         \
    } while (0)

void check_close(double want, double got, double rtol, double atol, const char *what, int line)
{
    double bound = rtol * fabs(want) + atol, error = fabs(got - want);
    if (got == want || (isfinite(want) && error <= bound))
        return;
    FAIL(line, "%s: got %.17g, want %.17g, off by %.3g, allowed %.3g", what, got, want, error,
         bound);
}

/* Largest finite |x_i|: an infinity among what is wanted must not allow everything else. */
static double largest(int64_t n, const double *x)
{
    double max = 0;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(x[i]))
            max = fmax(max, fabs(x[i]));
    return max;
}

void check_all_close(int64_t n, const double *want, const double *got, double tol, double atol,
                     const char *what, int line)
{
    double bound = tol * largest(n, want) + atol;
    for (int64_t i = 0; i < n; i++) {
        double error = fabs(got[i] - want[i]);
        if (got[i] != want[i] && !(error <= bound))
            FAIL(line,
                 "%s[%" PRId64 "] of %" PRId64 ": got %.17g, want %.17g, off by %.3g, allowed %.3g",
                 what, i, n, got[i], want[i], error, bound);
    }
}

void check_all_finite(int64_t n, const double *got, const char *what, int line)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(got[i]))
            FAIL(line, "%s[%" PRId64 "] of %" PRId64 ": got %g, want a finite number", what, i, n,
                 got[i]);
}

void check_same_bits(int64_t bytes, const void *want, const void *got, const char *what, int line)
{
    const unsigned char *a = want, *b = got;
    for (int64_t i = 0; i < bytes; i++)
        if (a[i] != b[i])
            FAIL(line,
                 "%s: byte %" PRId64 " of %" PRId64 " (float %" PRId64 ", double %" PRId64
                 ") is 0x%02x, want 0x%02x",
                 what, i, bytes, i / 4, i / 8, b[i], a[i]);
}

void check_status(const npagg_ctx *ctx, npagg_status want, npagg_status got, const char *text,
                  const char *call, int line)
{
    const char *error = ctx ? npagg_ctx_error(ctx) : "";
    if (got != want)
        FAIL(line, "%.300s: got %s, want %s; error text \"%.300s\"", call, npagg_status_name(got),
             npagg_status_name(want), error);
    if (!strstr(error, text))
        FAIL(line, "%.300s: error text \"%.300s\" does not contain \"%.100s\"", call, error, text);
}
