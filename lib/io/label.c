#include "io/label.h"

#include <stdio.h>
#include <string.h>

np_label np_label_of(const char *path)
{
    np_label label;
    const size_t length = strlen(path), room = NP_LABEL_SIZE - 4;
    const char *end = length > room ? path + length - room : path;
    while (end > path && ((unsigned char)*end & 0xc0) == 0x80)
        end++; /* not inside of a UTF-8 sequence */
    snprintf(label.text, sizeof label.text, "%s%s", end > path ? "..." : "", end);
    return label;
}

np_brief np_brief_of(const char *string)
{
    np_brief brief;
    snprintf(brief.text, sizeof brief.text, "%s", string);
    for (char *c = brief.text; *c; c++)
        if (*c < 0x20 || *c > 0x7e)
            *c = '?';
    if (strlen(string) >= sizeof brief.text)
        memcpy(brief.text + sizeof brief.text - 4, "...", 4);
    return brief;
}
