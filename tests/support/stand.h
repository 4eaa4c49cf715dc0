/*
 * A stand for calls that must be refused: a small good inference, its undisturbed outputs, a filled
 * cache. Each check does the bad call and then a good one, which must give the undisturbed bits.
 */
#ifndef STAND_H
#define STAND_H

#include "inference.h"
#include "meter.h"

typedef struct {
    meter meter;
    npagg_ctx *ctx;
    npagg_cache *cache;
    problem *problem;
    inference *good;
    inference *want; /* the same, run once: its outputs are what good must give */
} stand;

/* 9 points in 4 sets of 3, 0, 4, 2; D = 5; row weights, rows 1 and 5 masked; 4 sweeps. */
stand *stand_create(const flavour *kind, int precision, int32_t grad);
/* Any problem, which the stand then owns. */
stand *stand_create_of(problem *p, int precision);
/* Ends *s, if there is one, makes it NULL, and asserts that nothing leaked. */
void stand_end(stand **s);

/*
 * The call fails with this status; the error text has both parts; outputs are untouched; the cache,
 * filled before, is empty; the next good run gives the undisturbed bits.
 */
#define ASSERT_FORWARD_REFUSED(s, bad, status, one, two)                                           \
    stand_refuse_forward((s), (bad), (status), (one), (two), __LINE__)
#define ASSERT_BACKWARD_REFUSED(s, bad, status, one, two)                                          \
    stand_refuse_backward((s), (bad), (status), (one), (two), __LINE__)
#define ASSERT_ERROR_HAS(ctx, text) stand_check_text((ctx), (text), __LINE__)
/* cache_bytes is 0 and every look-up answers NPAGG_E_STATE. */
#define ASSERT_CACHE_EMPTY(ctx, cache) stand_check_empty((ctx), (cache), __LINE__)
/* A good run gives the undisturbed bits. */
#define ASSERT_STILL_GOOD(s) stand_check_good((s), __LINE__)

/* Threads of this process; -1 where the system does not tell. */
long count_threads(void);

void stand_refuse_forward(const stand *s, const inference *bad, npagg_status status,
                          const char *one, const char *two, int line);
void stand_refuse_backward(const stand *s, const inference *bad, npagg_status status,
                           const char *one, const char *two, int line);
void stand_check_text(const npagg_ctx *ctx, const char *text, int line);
void stand_check_empty(npagg_ctx *ctx, const npagg_cache *cache, int line);
void stand_check_good(const stand *s, int line);

#endif /* STAND_H */
