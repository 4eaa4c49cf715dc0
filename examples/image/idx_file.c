#include "idx_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "complain.h"

enum { MAGIC_IMAGES = 0x803, MAGIC_LABELS = 0x801, MOST_SIZES = 3 };

/* Deflate cannot make less than one byte of so many. */
enum { MOST_RATIO = 1032 };

/* A file that is read; a plain one passes through zlib unchanged. */
typedef struct {
    const char *path;
    gzFile file;
    int64_t length; /* of the file on disk */
} source;

static int open_file(const char *path, source *out)
{
    struct stat about;
    *out = (source){.path = path, .file = gzopen(path, "rb")};
    if (!out->file)
        return complain("%s cannot be read: %s", path, strerror(errno));
    if (stat(path, &about) || !S_ISREG(about.st_mode)) {
        gzclose(out->file);
        return complain("%s is no file", path);
    }
    out->length = about.st_size;
    return 0;
}

static int complain_of_reading(const source *in)
{
    int code;
    const char *text = gzerror(in->file, &code);
    const size_t n = strlen(in->path);
    if (!strncmp(text, in->path, n) && !strncmp(text + n, ": ", 2))
        text += n + 2;
    if (code == Z_ERRNO)
        text = strerror(errno);
    if (code == Z_BUF_ERROR)
        text = "the gzip file ends too early";
    return complain("%s cannot be read: %s", in->path, text);
}

/* Exactly n bytes; `what` they are. */
static int read_bytes(const source *in, const char *what, int64_t n, unsigned char *out)
{
    int64_t got = 0;
    while (got < n) {
        const int64_t want = n - got < 1 << 24 ? n - got : 1 << 24;
        const int k = gzread(in->file, out + got, (unsigned)want);
        if (k < 0)
            return complain_of_reading(in);
        if (k == 0)
            break;
        got += k;
    }
    int code;
    gzerror(in->file, &code);
    if (got < n && code == Z_BUF_ERROR)
        return complain_of_reading(in);
    if (got < n)
        return complain("%s ends within %s: got %lld bytes of them, want %lld", in->path, what,
                        (long long)got, (long long)n);
    return 0;
}

/* The end must be here; reaching it is what checks the sum of a gzip file. */
static int read_end(const source *in)
{
    unsigned char byte;
    const int k = gzread(in->file, &byte, 1);
    if (k < 0)
        return complain_of_reading(in);
    return k ? complain("%s has more bytes than its header says", in->path) : 0;
}

/* size [n_sizes]. */
static int read_header(const source *in, uint32_t magic, int n_sizes, int64_t *size)
{
    unsigned char head[4 * (1 + MOST_SIZES)];
    uint32_t number[1 + MOST_SIZES];
    if (read_bytes(in, "its header", 4 * (1 + n_sizes), head))
        return -1;
    for (int i = 0; i <= n_sizes; i++)
        number[i] = (uint32_t)head[4 * i] << 24 | (uint32_t)head[4 * i + 1] << 16 |
                    (uint32_t)head[4 * i + 2] << 8 | head[4 * i + 3];
    if (number[0] != magic)
        return complain("%s is no IDX file of %s: it begins with 0x%08x, want 0x%08x", in->path,
                        magic == MAGIC_IMAGES ? "images" : "labels", number[0], magic);
    for (int i = 0; i < n_sizes; i++)
        size[i] = number[i + 1];
    return 0;
}

/* Whether a file of this length can hold what its header says, and this machine too. */
static int check_length(const source *in, int64_t header, int64_t bytes)
{
    const int plain = gzdirect(in->file);
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (plain && in->length != header + bytes)
        return complain("%s has %lld bytes, but its header says %lld", in->path,
                        (long long)in->length, (long long)(header + bytes));
    if (!plain && bytes / MOST_RATIO > in->length)
        return complain("%s has %lld bytes, which cannot hold the %lld that its header says",
                        in->path, (long long)in->length, (long long)bytes);
    if ((double)bytes > memory / 2)
        return complain("%s has %.1f GB of pixels, which do not fit in half of the memory, %.1f GB",
                        in->path, (double)bytes * 1e-9, memory * 0.5e-9);
    return 0;
}

/* n <= 2^32, sides <= IDX_MOST_SIDE, so no product overflows. */
static int check_sizes(const source *in, const int64_t *size)
{
    if (size[0] < 1 || size[1] < 1 || size[2] < 1 || size[1] > IDX_MOST_SIDE ||
        size[2] > IDX_MOST_SIDE)
        return complain("%s says %lld images of %lld x %lld; want 1 or more, of at most %d x %d",
                        in->path, (long long)size[0], (long long)size[1], (long long)size[2],
                        IDX_MOST_SIDE, IDX_MOST_SIDE);
    return check_length(in, 16, size[0] * size[1] * size[2]);
}

static int read_images(const source *in, image_set *out)
{
    int64_t size[3] = {0};
    if (read_header(in, MAGIC_IMAGES, 3, size) || check_sizes(in, size))
        return -1;
    images_create(size[0], size[1], size[2], out);
    if (read_bytes(in, "its images", size[0] * size[1] * size[2], out->pixels))
        return -1;
    return read_end(in);
}

static int read_labels(const source *in, const char *images, image_set *out)
{
    int64_t n = 0;
    if (read_header(in, MAGIC_LABELS, 1, &n))
        return -1;
    if (n != out->n)
        return complain("%s has %lld labels, but %s has %lld images", in->path, (long long)n,
                        images, (long long)out->n);
    if (check_length(in, 8, n) || read_bytes(in, "its labels", n, out->labels))
        return -1;
    return read_end(in);
}

int idx_load(const char *images, const char *labels, image_set *out)
{
    source in;
    memset(out, 0, sizeof *out);
    if (open_file(images, &in))
        return -1;
    int bad = read_images(&in, out);
    gzclose(in.file);
    if (!bad && open_file(labels, &in) == 0) {
        bad = read_labels(&in, images, out);
        gzclose(in.file);
    } else {
        bad = -1;
    }
    if (bad)
        images_destroy(out);
    return bad;
}
