/*
 * Arrays that notice who leaves them: behind the last byte is a page nobody may touch, before the
 * first are canaries.
 */
#ifndef GUARDED_H
#define GUARDED_H

#include <stddef.h>

/* Room for so many bytes, filled with NaN of either precision. */
void *guarded_create(size_t bytes);

/* Fails the test if a canary is dead. */
void guarded_check(void);

/* Ends every guarded array. */
void guarded_destroy_all(void);

#endif /* GUARDED_H */
