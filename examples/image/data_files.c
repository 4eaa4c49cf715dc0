#include "data_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complain.h"

static const char kind[] = "images-idx3-ubyte", pattern[] = "*train-images-idx3-ubyte[.gz]";

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Copies the path with the last `old` of its name as `new`; 0 if there is none. */
static int replace(const char *path, const char *old, const char *new, char *out)
{
    const char *at = NULL;
    for (const char *next = base_name(path); (next = strstr(next, old)); next++)
        at = next;
    if (!at)
        return 0;
    const int n =
        snprintf(out, PATH_ROOM, "%.*s%s%s", (int)(at - path), path, new, at + strlen(old));
    return n < PATH_ROOM;
}

/* The path as it is, or with .gz put on or off: whichever is there. */
static int find_either(char *path)
{
    const size_t n = strlen(path);
    if (access(path, F_OK) == 0)
        return 1;
    if (n > 3 && !strcmp(path + n - 3, ".gz"))
        path[n - 3] = 0;
    else if (n + 3 < PATH_ROOM)
        memcpy(path + n, ".gz", 4);
    return access(path, F_OK) == 0;
}

static int is_training(const char *name)
{
    char end[64];
    const char *at = strstr(name, "train-");
    snprintf(end, sizeof end, "%s.gz", kind);
    return at && (!strcmp(at + 6, kind) || !strcmp(at + 6, end));
}

/* The one training set in a folder; plain and compressed count as one. */
static int find_in_folder(const char *folder, char *out)
{
    char first[256] = "", stem[256] = "";
    DIR *list = opendir(folder);
    int others = 0;
    if (!list)
        return complain("%s cannot be read: %s", folder, strerror(errno));
    for (struct dirent *e; (e = readdir(list));) {
        if (!is_training(e->d_name))
            continue;
        char other[256];
        snprintf(other, sizeof other, "%.*s",
                 (int)(strstr(e->d_name, kind) - e->d_name + (int)strlen(kind)), e->d_name);
        others += *stem && strcmp(stem, other);
        if (!*first || strcmp(e->d_name, first) < 0)
            snprintf(first, sizeof first, "%s", e->d_name);
        snprintf(stem, sizeof stem, "%s", other);
    }
    closedir(list);
    if (!*first)
        return complain("%s has no file %s", folder, pattern);
    if (others)
        return complain("%s has several files %s; say which, --data FILE", folder, pattern);
    return snprintf(out, PATH_ROOM, "%s/%s", folder, first) < PATH_ROOM ? 0 : -1;
}

/* The test set beside a training set. */
static int find_test(const char *train, char *out)
{
    static const char *const words[] = {"test", "t10k"};
    for (int i = 0; i < 2; i++)
        if (replace(train, "train", words[i], out) && find_either(out))
            return 0;
    return complain("%s: no test images beside it (test or t10k in place of train); give both, "
                    "--data TRAIN,TEST",
                    train);
}

int data_files_labels(const char *images, char *out)
{
    if (!replace(images, "images-idx3", "labels-idx1", out))
        return complain("%s: want a name with images-idx3 in it, beside one with labels-idx1",
                        images);
    if (!find_either(out))
        return complain("%s: no labels beside it, %s", images, out);
    return 0;
}

/* What stands before "train" or "test", or the folder's name. */
static void name_data(const char *images, char *out, size_t size)
{
    static const char *const words[] = {"train", "test", "t10k", "images"};
    const char *base = base_name(images);
    size_t n = strlen(base);
    for (int i = 0; i < 4; i++) {
        const char *at = strstr(base, words[i]);
        if (at && (size_t)(at - base) < n)
            n = (size_t)(at - base);
    }
    while (n && base[n - 1] == '-')
        n--;
    char folder[PATH_ROOM];
    snprintf(folder, sizeof folder, "%.*s", (int)(base - images), images);
    while (*folder && folder[strlen(folder) - 1] == '/')
        folder[strlen(folder) - 1] = 0;
    const char *name = n ? base : base_name(folder);
    snprintf(out, size, "%.*s", (int)(n ? n : strlen(name)), name);
    for (char *c = out; *c; c++)
        if (*c == ',')
            *c = '_';
}

static int find_files(const char *data, int test_only, data_files *out)
{
    struct stat about;
    const char *comma = strchr(data, ',');
    if (comma) {
        snprintf(out->train, PATH_ROOM, "%.*s", (int)(comma - data), data);
        snprintf(out->test, PATH_ROOM, "%s", comma + 1);
        return 0;
    }
    if (stat(data, &about))
        return complain("--data %s: %s", data, strerror(errno));
    if (S_ISDIR(about.st_mode)) {
        if (find_in_folder(data, out->train))
            return -1;
    } else if (test_only && !strstr(base_name(data), "train")) {
        snprintf(out->test, PATH_ROOM, "%s", data);
        return 0;
    } else {
        snprintf(out->train, PATH_ROOM, "%s", data);
    }
    return find_test(out->train, out->test);
}

int data_files_find(const char *data, int test_only, data_files *out)
{
    memset(out, 0, sizeof *out);
    if (find_files(data, test_only, out))
        return -1;
    name_data(out->test, out->name, sizeof out->name);
    out->transposed = !strncmp(base_name(out->test), "emnist", 6);
    if (test_only)
        out->train[0] = 0;
    return 0;
}
