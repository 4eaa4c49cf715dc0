#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/size.h"

enum {
    MAX_LINKS = 40,           /* as many as the system follows */
    MAX_TEMPORARIES = 100000, /* names tried before giving up */
    MAX_CHUNK = 1 << 30       /* bytes of one system call; Linux does no more than 2 GB */
};

/* "path: cannot write: No space left on device"; the number is errno unless it is given. */
static npagg_status fail_with(npagg_ctx *ctx, const np_label *label, const char *verb, int number)
{
    char text[96];
    if (strerror_r(number, text, sizeof text))
        snprintf(text, sizeof text, "error %d", number);
    return np_fail(ctx, NPAGG_E_IO, "%s: cannot %s: %s", label->text, verb, text);
}

static npagg_status fail(npagg_ctx *ctx, const np_label *label, const char *verb)
{
    return fail_with(ctx, label, verb, errno);
}

/* NULL for a regular file. */
static const char *odd_kind(const struct stat *info)
{
    if (S_ISREG(info->st_mode))
        return NULL;
    return S_ISDIR(info->st_mode) ? "a directory" : "not a regular file";
}

/* Does not wait for the other end of a pipe: what is not a regular file is refused. */
npagg_status np_input_open(npagg_ctx *ctx, const char *path, np_input *input)
{
    struct stat info;
    *input = (np_input){.label = np_label_of(path), .fd = -1};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail(ctx, &input->label, "open");
    input->fd = fd;
    if (fstat(fd, &info))
        return fail(ctx, &input->label, "read");
    if (odd_kind(&info))
        return np_fail(ctx, NPAGG_E_IO, "%s: cannot read: it is %s", input->label.text,
                       odd_kind(&info));
    input->bytes = (int64_t)info.st_size;
    return NPAGG_OK;
}

npagg_status np_input_read(npagg_ctx *ctx, const np_input *input, int64_t at, int64_t bytes,
                           void *out)
{
    for (char *to = out; bytes > 0;) {
        const ssize_t got = pread(input->fd, to, (size_t)np_min(bytes, MAX_CHUNK), (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail(ctx, &input->label, "read");
        if (got == 0)
            return np_fail(ctx, NPAGG_E_IO,
                           "%s: cannot read: it ended at byte %" PRId64 " while it was being read",
                           input->label.text, at);
        to += got;
        at += got;
        bytes -= got;
    }
    return NPAGG_OK;
}

void np_input_close(np_input *input)
{
    if (input->fd >= 0)
        close(input->fd);
    input->fd = -1;
}

/* Length of the folder's part of a path, with its slash; 0 if there is none. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* One link further: what it says, seen from the folder it lies in. 0 if it is too long. */
static int follow_link(char *path, const char *link)
{
    char next[NP_PATH_SIZE];
    const int folder = link[0] == '/' ? 0 : folder_length(path);
    const int length = snprintf(next, sizeof next, "%.*s%s", folder, path, link);
    if (length < 0 || length >= (int)sizeof next)
        return 0;
    memcpy(path, next, (size_t)length + 1);
    return 1;
}

/* output->path: the file's own name, behind all links. */
static npagg_status resolve(npagg_ctx *ctx, const char *path, np_output *output)
{
    char link[NP_PATH_SIZE];
    if (strlen(path) >= sizeof output->path)
        return fail_with(ctx, &output->label, "write", ENAMETOOLONG);
    memcpy(output->path, path, strlen(path) + 1);
    for (int i = 0; i < MAX_LINKS; i++) {
        const ssize_t length = readlink(output->path, link, sizeof link - 1);
        if (length < 0)
            return NPAGG_OK; /* no link; whatever else is wrong shows when it is opened */
        link[length] = '\0';
        if (!follow_link(output->path, link))
            return fail_with(ctx, &output->label, "write", ENAMETOOLONG);
    }
    return fail_with(ctx, &output->label, "write", ELOOP);
}

/* *mode: the permissions of the file that is there, -1 if there is none. */
static npagg_status check_present(npagg_ctx *ctx, const np_output *output, int *mode)
{
    struct stat info;
    *mode = -1;
    if (stat(output->path, &info))
        return errno == ENOENT ? NPAGG_OK : fail(ctx, &output->label, "write");
    if (odd_kind(&info))
        return np_fail(ctx, NPAGG_E_IO, "%s: cannot write: it is %s", output->label.text,
                       odd_kind(&info));
    if (faccessat(AT_FDCWD, output->path, W_OK, AT_EACCESS))
        return fail(ctx, &output->label, "write");
    *mode = (int)(info.st_mode & 0777);
    return NPAGG_OK;
}

/* The name is free of the file's own, which may be as long as names can be. */
static npagg_status open_temporary(npagg_ctx *ctx, np_output *output, int mode)
{
    const int folder = folder_length(output->path);
    for (int n = 0; output->fd < 0; n++) {
        snprintf(output->temporary, sizeof output->temporary, "%.*s.npagg-%ld-%d.tmp", folder,
                 output->path, (long)getpid(), n);
        output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                          (mode_t)(mode < 0 ? 0666 : mode));
        if (output->fd < 0 && errno != EINTR && (errno != EEXIST || n == MAX_TEMPORARIES))
            return fail(ctx, &output->label, "create a file in its folder");
    }
    return NPAGG_OK;
}

npagg_status np_output_open(npagg_ctx *ctx, const char *path, np_output *output)
{
    int mode;
    output->label = np_label_of(path);
    output->fd = -1;
    NP_TRY(resolve(ctx, path, output));
    if (output->path[folder_length(output->path)] == '\0')
        return fail_with(ctx, &output->label, "write", path[0] ? EISDIR : ENOENT);
    NP_TRY(check_present(ctx, output, &mode));
    NP_TRY(open_temporary(ctx, output, mode));
    if (mode >= 0 && fchmod(output->fd, (mode_t)mode))
        return fail(ctx, &output->label, "set the permissions");
    return NPAGG_OK;
}

npagg_status np_output_write(npagg_ctx *ctx, np_output *output, int64_t bytes, const void *data)
{
    for (const char *from = data; bytes > 0;) {
        const ssize_t put = write(output->fd, from, (size_t)np_min(bytes, MAX_CHUNK));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return fail_with(ctx, &output->label, "write", put < 0 ? errno : ENOSPC);
        from += put;
        bytes -= put;
    }
    return NPAGG_OK;
}

static int flush(int fd)
{
    int failed;
    do
        failed = fsync(fd);
    while (failed && errno == EINTR);
    return failed;
}

/* The name itself goes to the disk, where a folder can be opened and flushed. */
static npagg_status flush_folder(npagg_ctx *ctx, np_output *output)
{
    const int length = folder_length(output->path);
    output->path[length] = '\0';
    const int fd = open(length ? output->path : ".", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NPAGG_OK;
    const int number = flush(fd) ? errno : 0;
    close(fd);
    if (number && number != EINVAL && number != ENOTSUP && number != EBADF && number != EROFS)
        return fail_with(ctx, &output->label, "flush its folder, though the file is there", number);
    return NPAGG_OK;
}

npagg_status np_output_commit(npagg_ctx *ctx, np_output *output)
{
    if (flush(output->fd) && errno != EINVAL && errno != ENOTSUP)
        return fail(ctx, &output->label, "flush");
    const int fd = output->fd;
    output->fd = -1;
    const int failed = close(fd) && errno != EINTR;
    if (failed || rename(output->temporary, output->path)) {
        const int number = errno;
        unlink(output->temporary);
        return fail_with(ctx, &output->label, failed ? "close" : "rename", number);
    }
    return flush_folder(ctx, output);
}

void np_output_close(np_output *output)
{
    if (output->fd < 0)
        return;
    close(output->fd);
    unlink(output->temporary);
    output->fd = -1;
}
