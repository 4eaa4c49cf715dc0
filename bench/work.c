#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PERIOD = 1 << 20 };

void work_check(const npagg_ctx *ctx, npagg_status status)
{
    if (status == NPAGG_OK)
        return;
    fprintf(stderr, "bench: %s: %s\n", npagg_status_name(status), npagg_ctx_error(ctx));
    exit(1);
}

void *work_array(int64_t n, size_t size)
{
    const size_t bytes = ((size_t)n * size + 64) / 64 * 64;
    void *array = aligned_alloc(64, bytes);
    if (!array) {
        fprintf(stderr, "bench: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memset(array, 0, bytes);
}

/* The first PERIOD numbers again and again. */
static void repeat(int64_t n, float *out)
{
    for (int64_t i = PERIOD; i < n; i += PERIOD)
        memcpy(out + i, out, sizeof(float) * (size_t)(n - i < PERIOD ? n - i : PERIOD));
}

void work_fill_normal(uint64_t stream, int64_t n, float *out)
{
    npagg_noise_fill_f32(1, stream, n < PERIOD ? n : PERIOD, out);
    repeat(n, out);
}

void work_fill_uniform(uint64_t stream, int64_t n, float lo, float hi, float *out)
{
    const int64_t drawn = n < PERIOD ? n : PERIOD;
    npagg_uniform_fill_f32(1, stream, drawn, out);
    for (int64_t i = 0; i < drawn; i++)
        out[i] = lo + (hi - lo) * out[i];
    repeat(n, out);
}

void work_write(const char *folder, const char *name, const float *array, int64_t n)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    const int good = file && fwrite(array, sizeof *array, (size_t)n, file) == (size_t)n;
    if (!file || fclose(file) || !good) {
        perror(path);
        exit(1);
    }
}

work *work_create(const row *r, int32_t threads)
{
    return r->is_step ? work_create_step(r, threads) : work_create_infer(r, threads);
}
