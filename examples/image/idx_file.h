/*
 * Images and labels in the format IDX, as MNIST, Fashion-MNIST and EMNIST come, plain or compressed
 * by gzip: big-endian numbers of four bytes, a magic number (0x803 images, 0x801 labels), the sizes
 * (images: n, rows, columns; labels: n), then n rows columns bytes.
 */
#ifndef IDX_FILE_H
#define IDX_FILE_H

#include "image_set.h"

/* The largest side of an image. */
enum { IDX_MOST_SIDE = 4096 };

/* Images of one file and their labels of the other. The sizes are believed only as far as the
 * length of the file allows. 0, or -1 after a complaint that names the file. */
int idx_load(const char *images, const char *labels, image_set *out);

#endif /* IDX_FILE_H */
