/*
 * Tiles and chunks. Rows go through a network in tiles of a fixed number of rows, the last one
 * padded with zeros: so every product has the same sizes, and the bits of a row depend neither on
 * the number of threads nor on the other rows of the batch. What sums over rows is summed tile by
 * tile inside a chunk of tiles, and the chunks are added in order.
 */
#ifndef NP_TILE_H
#define NP_TILE_H

#include "base/size.h"

/*
 * Time per row of the three products of a layer (forward, backward, gradient of the weights), BLIS
 * 0.9 in float on one core of a Xeon with AVX-512 that had other work, the median of five runs,
 * which spread by 5 to 10 %:
 *
 * - 128 x 128, tiles of 64, 96, 128, 192, 256 rows: 1261, 1255, 1296, 1213, 1211 ns
 *
 * - 64 x 64, the same: 338, 321, 316, 306, 298 ns
 *
 * So 192 and 256 save 3 to 7 % of a full tile. 128 pads less where a batch is small: 608 points, as
 * in the paper's 1-D regression, become 640 rows and not 768. With the products of gemm_simd.h
 * whole steps are 1 to 2 % faster with 192 and 256.
 */
#define NP_TILE_ROWS 128

/* Rows of the tiles of a batch of n: fewer if it is small, so that threads get equal shares, unless
 * products want all tiles alike. */
static inline int64_t np_tile_rows(int64_t n, int pads)
{
    return pads ? NP_TILE_ROWS : np_min(NP_TILE_ROWS, np_max(20, n / 8 + (n % 8 != 0)));
}

static inline int64_t np_tile_count(int64_t n, int64_t rows)
{
    return n / rows + (n % rows != 0);
}

/* Chunks of so many tiles: enough for the threads, few enough that adding them up costs little; a
 * number that threads can share. */
static inline int64_t np_chunk_count(int64_t tiles)
{
    return np_min(tiles, np_min(32, (tiles / 32 + 1) * 8));
}

/* The first tile of chunk c; that of c + 1 is the end of c. */
static inline int64_t np_chunk_first(int64_t tiles, int64_t chunks, int64_t c)
{
    return tiles / chunks * c + np_min(c, tiles % chunks);
}

#endif /* NP_TILE_H */
