/*
 * Glyphs of strokes, drawn by a procedure: a data set for machines that have none. There are 16
 * classes; an image is one of them turned, stretched, slanted, moved, with a pen of its own width
 * and a hand that shakes.
 */
#ifndef GLYPHS_H
#define GLYPHS_H

#include "image_set.h"

enum { GLYPH_SIDE = 28, GLYPH_CLASSES = 16 };

/* `each` images a class, in turn: image i is of class i % GLYPH_CLASSES. A function of the seed. */
void glyphs_draw(uint64_t seed, int64_t each, image_set *out);

#endif /* GLYPHS_H */
