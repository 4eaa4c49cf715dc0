#include "guarded.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <unity.h>

#define MAX_ARRAYS 256
#define CANARIES 64 /* bytes before the array */
#define CANARY 0xff /* floats and doubles of such bytes are NaN */

typedef struct {
    unsigned char *base, *array;
    size_t mapped;
} area;

static area areas[MAX_ARRAYS];
static int area_count;

/* The array ends where the last page, which cannot be read or written, begins. */
void *guarded_create(size_t bytes)
{
    TEST_ASSERT_LESS_THAN_INT(MAX_ARRAYS, area_count);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t body = (bytes + CANARIES + page - 1) / page * page;
    unsigned char *base =
        mmap(NULL, body + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TEST_ASSERT_TRUE(base != MAP_FAILED);
    memset(base, CANARY, body);
    TEST_ASSERT_EQUAL_INT(0, mprotect(base + body, page, PROT_NONE));
    areas[area_count++] = (area){base, base + body - bytes, body + page};
    return base + body - bytes;
}

void guarded_check(void)
{
    for (int i = 0; i < area_count; i++)
        for (int j = 1; j <= CANARIES; j++)
            TEST_ASSERT_EQUAL_HEX8_MESSAGE(CANARY, areas[i].array[-j], "written before an array");
}

void guarded_destroy_all(void)
{
    while (area_count > 0) {
        area_count--;
        munmap(areas[area_count].base, areas[area_count].mapped);
    }
}
