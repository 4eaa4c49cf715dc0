/* Numbers as text that is the same in every locale: "64", "1e-4", "-125e-3". */
#ifndef NP_DECIMAL_H
#define NP_DECIMAL_H

#include <stdint.h>

enum { NP_DECIMAL_SIZE = 40 };

/* The shortest text that reads back as x, which is finite. */
void np_decimal_print(double x, char text[NP_DECIMAL_SIZE]);

/* The whole text as a number; 1, or 0 if it is none or has no finite value. */
int np_decimal_read(const char *text, double *x);

/* The same for digits with at most a minus before them. */
int np_integer_read(const char *text, int64_t *x);

#endif /* NP_DECIMAL_H */
