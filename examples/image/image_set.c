#include "image_set.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "complain.h"

void images_create(int64_t n, int64_t height, int64_t width, image_set *out)
{
    out->n = n;
    out->height = height;
    out->width = width;
    out->pixels = take((size_t)n, (size_t)(height * width));
    out->labels = take((size_t)n, 1);
}

void images_destroy(image_set *set)
{
    free(set->pixels);
    free(set->labels);
    memset(set, 0, sizeof *set);
}

void images_transpose(image_set *set)
{
    const int64_t h = set->height, w = set->width;
    unsigned char *old = take((size_t)h, (size_t)w);
    for (int64_t i = 0; i < set->n; i++) {
        unsigned char *image = set->pixels + i * h * w;
        memcpy(old, image, (size_t)(h * w));
        for (int64_t r = 0; r < h; r++)
            for (int64_t c = 0; c < w; c++)
                image[c * h + r] = old[r * w + c];
    }
    free(old);
    set->height = w;
    set->width = h;
}

uint32_t images_checksum(const image_set *set)
{
    const int64_t size = set->height * set->width, shape[] = {set->n, set->height, set->width};
    uLong sum = crc32(0, (const Bytef *)shape, sizeof shape);
    for (int64_t i = 0; i < set->n; i++)
        sum = crc32(sum, set->pixels + i * size, (uInt)size);
    for (int64_t i = 0; i < set->n; i++)
        sum = crc32(sum, set->labels + i, 1);
    return (uint32_t)sum;
}
