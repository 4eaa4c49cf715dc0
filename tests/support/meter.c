#include "meter.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define MAGIC UINT64_C(0x6d65746572626c6b)
#define JUNK 0xFF /* NaN in both precisions */

/* 16 bytes, so that what follows is aligned as malloc's. */
typedef struct {
    uint64_t magic;
    uint64_t size;
} header;

void meter_init(meter *m)
{
    *m = (meter){.owner = pthread_self()};
}

void meter_fail_in(meter *m, int64_t n, int forever)
{
    m->fail_from = m->requests + n;
    m->fail_to = forever ? INT64_MAX : m->fail_from;
    m->failed = 0;
}

void meter_never_fail(meter *m)
{
    m->fail_from = m->fail_to = 0;
}

static int must_fail(const meter *m)
{
    return m->fail_from && m->requests >= m->fail_from && m->requests <= m->fail_to;
}

static header *check_block(meter *m, void *p, size_t old_size)
{
    if (!p) {
        m->faults += old_size != 0;
        return NULL;
    }
    header *h = (header *)p - 1;
    m->faults += h->magic != MAGIC || h->size != old_size;
    return h;
}

static void *take_block(meter *m, size_t size)
{
    header *h = malloc(sizeof *h + size);
    if (!h)
        return NULL;
    *h = (header){MAGIC, size};
    memset(h + 1, JUNK, size);
    m->blocks++;
    m->bytes += (int64_t)size;
    return h + 1;
}

static void drop_block(meter *m, header *h)
{
    if (!h)
        return;
    m->blocks--;
    m->bytes -= (int64_t)h->size;
    memset(h, JUNK, sizeof *h + h->size);
    free(h);
}

void *meter_alloc(void *user, void *p, size_t old_size, size_t new_size)
{
    meter *m = user;
    m->calls++;
    m->faults += !pthread_equal(m->owner, pthread_self());
    header *old = check_block(m, p, old_size);
    if (new_size == 0) {
        drop_block(m, old);
        return NULL;
    }
    m->requests++;
    if (must_fail(m)) {
        m->failed++;
        return NULL;
    }
    void *fresh = take_block(m, new_size);
    if (fresh && old)
        memcpy(fresh, p, old_size < new_size ? old_size : new_size);
    if (fresh)
        drop_block(m, old);
    return fresh;
}

npagg_ctx *meter_ctx(meter *m)
{
    npagg_ctx *ctx = NULL;
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_ctx_create_with_alloc(&ctx, meter_alloc, m));
    return ctx;
}

void meter_check_balanced(const meter *m, int line)
{
    UNITY_TEST_ASSERT_EQUAL_INT64(0, m->faults, (UNITY_LINE_TYPE)line, "wrong size or pointer");
    UNITY_TEST_ASSERT_EQUAL_INT64(0, m->blocks, (UNITY_LINE_TYPE)line, "blocks leaked");
    UNITY_TEST_ASSERT_EQUAL_INT64(0, m->bytes, (UNITY_LINE_TYPE)line, "bytes leaked");
}
