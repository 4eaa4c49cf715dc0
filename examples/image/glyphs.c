#include "glyphs.h"

#include <math.h>
#include <stdlib.h>

#include "complain.h"
#include "keyed.h"

/* Strokes with blanks between them, through places a..y of a grid of 5 x 5, row by row. */
static const char *const shapes[GLYPH_CLASSES] = {
    "bdjtxvpfb", "gcw",  "aeuy",  "eauy kn", "ako ey",   "eakoyu", "auy", "aeu",
    "aeuya",     "cuyc", "ay eu", "ae cw",   "au ey ko", "cw ko",  "awe", "uaye",
};

enum { MOST_PLACES = 16, UNIFORMS = 6 + 2 * MOST_PLACES };

typedef struct {
    double x, y;
} place;

/* How the grid lies on the image, and the pen. */
typedef struct {
    double xx, xy, yx, yy, x, y, radius;
} hand;

static double between(double u, double lo, double hi)
{
    return lo + (hi - lo) * u;
}

static hand draw_hand(const double *u)
{
    const double turn = between(u[0], -0.25, 0.25), slant = between(u[1], -0.2, 0.2);
    const double size = between(u[2], 3.3, 4.8), middle = (GLYPH_SIDE - 1) / 2.0;
    return (hand){.xx = size * cos(turn),
                  .xy = size * (slant - sin(turn)),
                  .yx = size * sin(turn),
                  .yy = size * cos(turn),
                  .x = middle + between(u[3], -2, 2),
                  .y = middle + between(u[4], -2, 2),
                  .radius = between(u[5], 0.8, 1.6)};
}

static place put_place(const hand *h, char letter, const double *shake)
{
    const double x = (letter - 'a') % 5 - 2 + between(shake[0], -0.15, 0.15);
    const double y = (double)((letter - 'a') / 5) - 2 + between(shake[1], -0.15, 0.15);
    return (place){h->x + h->xx * x + h->xy * y, h->y + h->yx * x + h->yy * y};
}

/* From p to the line between a and b. */
static double distance(place p, place a, place b)
{
    const double dx = b.x - a.x, dy = b.y - a.y;
    double t = ((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

/* Ink up to the radius, none from a pixel behind it. */
static void draw_line(place a, place b, double radius, unsigned char *image)
{
    for (int r = 0; r < GLYPH_SIDE; r++)
        for (int c = 0; c < GLYPH_SIDE; c++) {
            const double ink = radius + 0.5 - distance((place){c, r}, a, b);
            const int value = ink <= 0 ? 0 : ink >= 1 ? 255 : (int)(255 * ink);
            unsigned char *pixel = image + r * GLYPH_SIDE + c;
            *pixel = value > *pixel ? (unsigned char)value : *pixel;
        }
}

static void draw_glyph(const char *shape, const double *u, unsigned char *image)
{
    const hand h = draw_hand(u);
    place last = {0};
    for (int i = 0; shape[i]; i++) {
        if (shape[i] == ' ')
            continue;
        const place here = put_place(&h, shape[i], u + 6 + 2 * i);
        if (i > 0 && shape[i - 1] != ' ')
            draw_line(last, here, h.radius, image);
        last = here;
    }
}

void glyphs_draw(uint64_t seed, int64_t each, image_set *out)
{
    images_create(each * GLYPH_CLASSES, GLYPH_SIDE, GLYPH_SIDE, out);
    for (int64_t i = 0; i < out->n; i++) {
        double u[UNIFORMS];
        key_uniform(seed, KEY_FUNCTION, (uint64_t)i, UNIFORMS, u);
        out->labels[i] = (unsigned char)(i % GLYPH_CLASSES);
        draw_glyph(shapes[i % GLYPH_CLASSES], u, out->pixels + i * GLYPH_SIDE * GLYPH_SIDE);
    }
}
