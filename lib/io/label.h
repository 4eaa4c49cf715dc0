/* Paths and names from files, made fit for error texts. */
#ifndef NP_LABEL_H
#define NP_LABEL_H

enum { NP_LABEL_SIZE = 84, NP_BRIEF_SIZE = 64 };

typedef struct np_label {
    char text[NP_LABEL_SIZE];
} np_label;

/* A path; if it is long, its end. */
np_label np_label_of(const char *path);

typedef struct np_brief {
    char text[NP_BRIEF_SIZE];
} np_brief;

/* A string that a file has; if it is long, its beginning. What is not printable ASCII becomes '?'.
 */
np_brief np_brief_of(const char *string);

#endif /* NP_LABEL_H */
