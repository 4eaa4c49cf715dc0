/* Numbers of a file -> numbers of the caller, in either precision. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/ctx.h"
#include "base/real.h"
#include "base/size.h"
#include "io/safetensors.h"

enum { CHUNK = 16384 };

static uint64_t load_bits(const unsigned char *bytes, int32_t n)
{
    uint64_t bits = 0;
    for (int32_t i = n - 1; i >= 0; i--)
        bits = bits << 8 | bytes[i];
    return bits;
}

/* Infinities and NaN stay what they are. */
static real fit(double x)
{
    return isfinite(x) ? np_saturate(x) : (real)x;
}

static void unpack_f32(int64_t n, const unsigned char *bytes, real *out)
{
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = (uint32_t)load_bits(bytes + 4 * i, 4);
        float x;
        memcpy(&x, &bits, sizeof x);
        out[i] = (real)x;
    }
}

static void unpack_f64(int64_t n, const unsigned char *bytes, real *out)
{
    for (int64_t i = 0; i < n; i++) {
        const uint64_t bits = load_bits(bytes + 8 * i, 8);
        double x;
        memcpy(&x, &bits, sizeof x);
        out[i] = fit(x);
    }
}

npagg_status NP_REAL(np_safetensors_read)(npagg_ctx *ctx, const np_safetensors *file,
                                          const np_entry *entry, real *out)
{
    unsigned char bytes[CHUNK];
    const int32_t size = entry->dtype->bytes;
    const int is_f32 = entry->dtype == NP_DTYPE_F32;
    NP_TRY(np_safetensors_check(ctx, file, entry));
    for (int64_t i = 0, n; i < entry->count; i += n) {
        n = np_min(entry->count - i, CHUNK / size);
        NP_TRY(np_input_read(ctx, &file->input, file->data_at + entry->begin + i * size, n * size,
                             bytes));
        (is_f32 ? unpack_f32 : unpack_f64)(n, bytes, out + i);
    }
    return NPAGG_OK;
}
