#include "folder.h"

#include <dirent.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

void folder_create(folder *f)
{
    *f = (folder){.path = "/tmp/npagg-io-XXXXXX"};
    TEST_ASSERT_NOT_NULL(mkdtemp(f->path));
}

/* Depth first; a folder that cannot be entered shows in rmdir. */
static void remove_all(const char *path)
{
    char inner[1024];
    struct stat info;
    DIR *dir = lstat(path, &info) == 0 && S_ISDIR(info.st_mode) ? opendir(path) : NULL;
    if (!dir) {
        unlink(path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%.500s/%.500s", path, entry->d_name);
        remove_all(inner);
    }
    closedir(dir);
    rmdir(path);
}

void folder_destroy(folder *f)
{
    remove_all(f->path);
}

const char *folder_path(folder *f, const char *name)
{
    char *path = f->buffer[f->next++ % FOLDER_PATHS];
    const size_t length = strlen(f->path);
    memcpy(path, f->path, length);
    snprintf(path + length, sizeof f->buffer[0] - length, "/%s", name);
    return path;
}

int folder_count(const folder *f)
{
    int n = 0;
    DIR *dir = opendir(f->path);
    TEST_ASSERT_NOT_NULL(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return n;
}

void blob_write(const char *path, const void *data, size_t size)
{
    unlink(path); /* some file systems go to the disk when a file is cut and written again */
    FILE *file = fopen(path, "wb");
    TEST_ASSERT_NOT_NULL(file);
    TEST_ASSERT_EQUAL_size_t(size, size ? fwrite(data, 1, size, file) : 0);
    TEST_ASSERT_EQUAL_INT(0, fclose(file));
}

blob blob_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    TEST_ASSERT_NOT_NULL(file);
    fseek(file, 0, SEEK_END);
    blob b = {.size = (size_t)ftell(file)};
    rewind(file);
    b.data = malloc(b.size + 1);
    TEST_ASSERT_EQUAL_size_t(b.size, fread(b.data, 1, b.size, file));
    fclose(file);
    return b;
}

void blob_free(blob *b)
{
    free(b->data);
    *b = (blob){0};
}

void write_safetensors(const char *path, const char *header, size_t n)
{
    const size_t length = strlen(header);
    unsigned char *bytes = malloc(8 + length + n);
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)length >> (8 * i));
    memcpy(bytes + 8, header, length);
    for (size_t i = 0; i < n; i++)
        bytes[8 + length + i] = (unsigned char)i;
    blob_write(path, bytes, 8 + length + n);
    free(bytes);
}

int set_comma_locale(folder *f)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    char command[256];
    for (int i = 0; i < 4; i++)
        if (setlocale(LC_ALL, names[i]))
            return 1;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
             f->path);
    if (system(command) != 0)
        return 0;
    setenv("LOCPATH", f->path, 1);
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}
