#include "classes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 52 };

/* A label at *text, which is moved behind it; -1 if there is none. */
static int read_label(const char **text)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return -1;
    const long x = strtol(*text, &end, 10);
    *text = end;
    return x < CLASSES_MOST ? (int)x : -1;
}

int classes_read(const char *text, class_set *out)
{
    memset(out, 0, sizeof *out);
    for (;; text++) {
        const int from = read_label(&text);
        int to = from;
        if (*text == '-') {
            text++;
            to = read_label(&text);
        }
        if (from < 0 || to < from || (*text && *text != ','))
            return -1;
        memset(out->has + from, 1, (size_t)(to - from + 1));
        if (!*text)
            return 0;
    }
}

void classes_print(const class_set *set, char *out, size_t size)
{
    size_t n = 0;
    *out = 0;
    for (int from = 0; from < CLASSES_MOST && n < size; from++) {
        int to = from;
        if (!set->has[from])
            continue;
        while (to + 1 < CLASSES_MOST && set->has[to + 1])
            to++;
        n += (size_t)snprintf(out + n, size - n, "%s%d", n ? "+" : "", from);
        if (to > from && n < size)
            n += (size_t)snprintf(out + n, size - n, "-%d", to);
        from = to;
    }
}

void classes_pack(const class_set *set, int64_t *word)
{
    memset(word, 0, CLASSES_WORDS * sizeof *word);
    for (int i = 0; i < CLASSES_MOST; i++)
        word[i / WORD_BITS] |= (int64_t)set->has[i] << i % WORD_BITS;
}

void classes_unpack(const int64_t *word, class_set *out)
{
    for (int i = 0; i < CLASSES_MOST; i++)
        out->has[i] = word[i / WORD_BITS] >> i % WORD_BITS & 1;
}
