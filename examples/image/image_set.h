/* Grey images of one size with a label each. */
#ifndef IMAGE_SET_H
#define IMAGE_SET_H

#include <stdint.h>

typedef struct {
    int64_t n, height, width;
    unsigned char *pixels; /* [n,height,width] 0..255 */
    unsigned char *labels; /* [n] */
} image_set;

/* Room for n images, all 0. */
void images_create(int64_t n, int64_t height, int64_t width, image_set *out);
void images_destroy(image_set *set);

/* Rows become columns. */
void images_transpose(image_set *set);

/* A checksum of everything in it, 32 bits. */
uint32_t images_checksum(const image_set *set);

#endif /* IMAGE_SET_H */
