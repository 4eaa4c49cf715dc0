/* Replacing a file: whole or not at all, whatever lies at the path. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ctx.h"
#include "check.h"
#include "folder.h"
#include "io/file.h"

static folder room;
static npagg_ctx *ctx;

void setUp(void)
{
    folder_create(&room);
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
    folder_destroy(&room);
}

static npagg_status write_text(const char *path, const char *text)
{
    np_output output;
    npagg_status status = np_output_open(ctx, path, &output);
    if (status == NPAGG_OK)
        status = np_output_write(ctx, &output, (int64_t)strlen(text), text);
    if (status == NPAGG_OK)
        status = np_output_commit(ctx, &output);
    np_output_close(&output);
    return status;
}

static void check_text(const char *path, const char *want)
{
    blob b = blob_read(path);
    TEST_ASSERT_EQUAL_size_t(strlen(want), b.size);
    TEST_ASSERT_EQUAL_MEMORY(want, b.data, b.size);
    blob_free(&b);
}

static int mode_of(const char *path)
{
    struct stat info;
    TEST_ASSERT_EQUAL_INT(0, stat(path, &info));
    return (int)(info.st_mode & 0777);
}

static void test_a_file_is_made_and_replaced(void)
{
    const char *path = folder_path(&room, "a");
    ASSERT_OK(ctx, write_text(path, "first"));
    check_text(path, "first");
    ASSERT_OK(ctx, write_text(path, "2nd"));
    check_text(path, "2nd");
    TEST_ASSERT_EQUAL_INT(1, folder_count(&room));
}

static void test_a_path_may_be_relative_or_a_bare_name(void)
{
    char here[512];
    TEST_ASSERT_NOT_NULL(getcwd(here, sizeof here));
    TEST_ASSERT_EQUAL_INT(0, chdir(room.path));
    TEST_ASSERT_EQUAL_INT(0, mkdir("sub", 0777));
    npagg_status bare = write_text("bare", "1"), below = write_text("sub/below", "2"),
                 up = write_text("sub/../up", "3"), dot = write_text("./dot", "4");
    TEST_ASSERT_EQUAL_INT(0, chdir(here));
    TEST_ASSERT_TRUE(bare == 0 && below == 0 && up == 0 && dot == 0);
    check_text(folder_path(&room, "bare"), "1");
    check_text(folder_path(&room, "sub/below"), "2");
    check_text(folder_path(&room, "up"), "3");
    check_text(folder_path(&room, "dot"), "4");
}

static void test_the_longest_name_is_fine(void)
{
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    ASSERT_OK(ctx, write_text(folder_path(&room, name), "long"));
    check_text(folder_path(&room, name), "long");
}

static void test_new_files_follow_the_umask_and_old_ones_keep_their_permissions(void)
{
    const char *path = folder_path(&room, "a");
    const mode_t before = umask(027);
    ASSERT_OK(ctx, write_text(path, "1"));
    TEST_ASSERT_EQUAL_HEX(0640, mode_of(path));
    chmod(path, 0606);
    ASSERT_OK(ctx, write_text(path, "2"));
    TEST_ASSERT_EQUAL_HEX(0606, mode_of(path));
    umask(0);
    ASSERT_OK(ctx, write_text(folder_path(&room, "b"), "3"));
    TEST_ASSERT_EQUAL_HEX(0666, mode_of(folder_path(&room, "b")));
    umask(before);
}

static void test_links_stay_and_what_they_lead_to_is_replaced(void)
{
    TEST_ASSERT_EQUAL_INT(0, mkdir(folder_path(&room, "sub"), 0777));
    TEST_ASSERT_EQUAL_INT(0, symlink("sub/target", folder_path(&room, "link")));
    TEST_ASSERT_EQUAL_INT(0, symlink(folder_path(&room, "link"), folder_path(&room, "absolute")));
    ASSERT_OK(ctx, write_text(folder_path(&room, "link"), "new by a dangling link"));
    check_text(folder_path(&room, "sub/target"), "new by a dangling link");
    ASSERT_OK(ctx, write_text(folder_path(&room, "absolute"), "2"));
    check_text(folder_path(&room, "sub/target"), "2");
    struct stat info;
    TEST_ASSERT_TRUE(lstat(folder_path(&room, "link"), &info) == 0 && S_ISLNK(info.st_mode));
    TEST_ASSERT_TRUE(lstat(folder_path(&room, "absolute"), &info) == 0 && S_ISLNK(info.st_mode));
    TEST_ASSERT_EQUAL_INT(3, folder_count(&room));
}

static void test_links_in_a_circle_are_refused(void)
{
    np_input input;
    TEST_ASSERT_EQUAL_INT(0, symlink("b", folder_path(&room, "a")));
    TEST_ASSERT_EQUAL_INT(0, symlink("a", folder_path(&room, "b")));
    ASSERT_FAILS(ctx, NPAGG_E_IO, "a: cannot write: ", write_text(folder_path(&room, "a"), "x"));
    ASSERT_FAILS(ctx, NPAGG_E_IO,
                 "a: cannot open: ", np_input_open(ctx, folder_path(&room, "a"), &input));
}

static void test_what_is_no_regular_file_is_neither_written_nor_read(void)
{
    np_input input;
    TEST_ASSERT_EQUAL_INT(0, mkdir(folder_path(&room, "dir"), 0777));
    TEST_ASSERT_EQUAL_INT(0, mkfifo(folder_path(&room, "pipe"), 0666));
    const char *paths[] = {folder_path(&room, "dir"), folder_path(&room, "pipe"), "/dev/full"};
    for (int i = 0; i < 3; i++) {
        const char *kind = i == 0 ? "it is a directory" : "it is not a regular file";
        ASSERT_FAILS(ctx, NPAGG_E_IO, kind, write_text(paths[i], "x"));
        ASSERT_FAILS(ctx, NPAGG_E_IO, kind, np_input_open(ctx, paths[i], &input));
        np_input_close(&input);
    }
    ASSERT_FAILS(ctx, NPAGG_E_IO,
                 "dir/: cannot write: ", write_text(folder_path(&room, "dir/"), "x"));
    ASSERT_FAILS(ctx, NPAGG_E_IO, ": cannot write: ", write_text("", "x"));
    ASSERT_FAILS(ctx, NPAGG_E_IO, ": cannot open: ", np_input_open(ctx, "", &input));
    TEST_ASSERT_EQUAL_INT(2, folder_count(&room));
}

static void test_a_missing_file_or_folder_is_named(void)
{
    np_input input;
    ASSERT_FAILS(ctx, NPAGG_E_IO, "nowhere: cannot open: No such file or directory",
                 np_input_open(ctx, folder_path(&room, "nowhere"), &input));
    ASSERT_FAILS(ctx, NPAGG_E_IO, "no/where: cannot create a file in its folder: No such file",
                 write_text(folder_path(&room, "no/where"), "x"));
}

static void test_a_path_too_long_is_refused_and_shown_by_its_end(void)
{
    static char path[5000];
    memset(path, 'p', sizeof path - 1);
    memcpy(path + sizeof path - 5, "/end", 4);
    ASSERT_FAILS(ctx, NPAGG_E_IO, "ppp/end: cannot write: ", write_text(path, "x"));
    TEST_ASSERT_EQUAL_STRING_LEN("...ppp", npagg_ctx_error(ctx), 6);
    path[4090] = '\0';
    ASSERT_FAILS(ctx, NPAGG_E_IO, "ppp: cannot write: ", write_text(path, "x"));
}

/* Runs body in a child, which has no rights if the test has all; its failures are ours. */
static void run_unprivileged(void (*body)(void))
{
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    TEST_ASSERT_TRUE(child >= 0);
    if (child == 0) {
        if (getuid() == 0 && setuid(65534) != 0)
            _exit(3);
        body();
        _exit(0);
    }
    TEST_ASSERT_EQUAL_INT((int)child, (int)waitpid(child, &status, 0));
    TEST_ASSERT_TRUE_MESSAGE(WIFEXITED(status), "the child crashed");
    TEST_ASSERT_EQUAL_INT(0, WEXITSTATUS(status));
}

#define CHILD_CHECK(cond)                                                                          \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #cond, npagg_ctx_error(ctx));   \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void write_where_not_allowed(void)
{
    np_input input;
    CHILD_CHECK(write_text(folder_path(&room, "new"), "x") == NPAGG_E_IO);
    CHILD_CHECK(strstr(npagg_ctx_error(ctx), "new: cannot create a file in its folder: Perm"));
    CHILD_CHECK(write_text(folder_path(&room, "old"), "x") == NPAGG_E_IO);
    CHILD_CHECK(write_text(folder_path(&room, "open/kept"), "x") == NPAGG_E_IO);
    CHILD_CHECK(strstr(npagg_ctx_error(ctx), "kept: cannot write: Permission denied"));
    CHILD_CHECK(np_input_open(ctx, folder_path(&room, "secret"), &input) == NPAGG_E_IO);
    CHILD_CHECK(strstr(npagg_ctx_error(ctx), "secret: cannot open: Permission denied"));
}

static void test_an_unwritable_folder_or_file_is_left_alone(void)
{
    const char *old = folder_path(&room, "old"), *kept = folder_path(&room, "open/kept");
    TEST_ASSERT_EQUAL_INT(0, mkdir(folder_path(&room, "open"), 0777));
    chmod(folder_path(&room, "open"), 0777);
    blob_write(old, "old", 3);
    blob_write(kept, "kept", 4);
    chmod(old, 0666);
    chmod(kept, 0444);
    blob_write(folder_path(&room, "secret"), "s", 1);
    chmod(folder_path(&room, "secret"), 0);
    chmod(room.path, 0555);
    run_unprivileged(write_where_not_allowed);
    chmod(room.path, 0755);
    check_text(folder_path(&room, "old"), "old");
    check_text(folder_path(&room, "open/kept"), "kept");
    TEST_ASSERT_EQUAL_INT(3, folder_count(&room));
}

static void write_too_much(void)
{
    char text[10001];
    const struct rlimit limit = {4096, 4096};
    signal(SIGXFSZ, SIG_IGN);
    CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    memset(text, 't', 10000);
    text[10000] = '\0';
    CHILD_CHECK(write_text(folder_path(&room, "a"), text) == NPAGG_E_IO);
    CHILD_CHECK(strstr(npagg_ctx_error(ctx), "a: cannot write: File too large"));
}

static void test_a_failing_write_leaves_the_old_file_and_no_other(void)
{
    const char *path = folder_path(&room, "a");
    ASSERT_OK(ctx, write_text(path, "old"));
    chmod(room.path, 0777);
    chmod(path, 0666);
    run_unprivileged(write_too_much);
    check_text(path, "old");
    TEST_ASSERT_EQUAL_INT(1, folder_count(&room));
}

static void test_an_output_that_is_not_committed_leaves_nothing(void)
{
    np_output output;
    const char *path = folder_path(&room, "a");
    ASSERT_OK(ctx, np_output_open(ctx, path, &output));
    ASSERT_OK(ctx, np_output_write(ctx, &output, 3, "abc"));
    TEST_ASSERT_EQUAL_INT(1, folder_count(&room));
    np_output_close(&output);
    TEST_ASSERT_EQUAL_INT(0, folder_count(&room));
}

/* As after a crash, or by another thread at the same time. */
static void test_temporary_names_that_are_taken_are_passed_over(void)
{
    np_output a, b;
    ASSERT_OK(ctx, np_output_open(ctx, folder_path(&room, "x"), &a));
    ASSERT_OK(ctx, np_output_open(ctx, folder_path(&room, "x"), &b));
    ASSERT_OK(ctx, np_output_write(ctx, &a, 1, "a"));
    ASSERT_OK(ctx, np_output_write(ctx, &b, 1, "b"));
    ASSERT_OK(ctx, np_output_commit(ctx, &b));
    ASSERT_OK(ctx, np_output_commit(ctx, &a));
    np_output_close(&a);
    np_output_close(&b);
    check_text(folder_path(&room, "x"), "a");
    TEST_ASSERT_EQUAL_INT(1, folder_count(&room));
}

static void test_a_file_that_shrinks_while_it_is_read_is_an_error(void)
{
    char out[10];
    np_input input;
    const char *path = folder_path(&room, "a");
    blob_write(path, "0123456789", 10);
    ASSERT_OK(ctx, np_input_open(ctx, path, &input));
    TEST_ASSERT_EQUAL_INT64(10, input.bytes);
    TEST_ASSERT_EQUAL_INT(0, truncate(path, 4));
    ASSERT_FAILS(ctx, NPAGG_E_IO, "it ended at byte 4", np_input_read(ctx, &input, 0, 10, out));
    np_input_close(&input);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_file_is_made_and_replaced);
    RUN_TEST(test_a_path_may_be_relative_or_a_bare_name);
    RUN_TEST(test_the_longest_name_is_fine);
    RUN_TEST(test_new_files_follow_the_umask_and_old_ones_keep_their_permissions);
    RUN_TEST(test_links_stay_and_what_they_lead_to_is_replaced);
    RUN_TEST(test_links_in_a_circle_are_refused);
    RUN_TEST(test_what_is_no_regular_file_is_neither_written_nor_read);
    RUN_TEST(test_a_missing_file_or_folder_is_named);
    RUN_TEST(test_a_path_too_long_is_refused_and_shown_by_its_end);
    RUN_TEST(test_an_unwritable_folder_or_file_is_left_alone);
    RUN_TEST(test_a_failing_write_leaves_the_old_file_and_no_other);
    RUN_TEST(test_an_output_that_is_not_committed_leaves_nothing);
    RUN_TEST(test_temporary_names_that_are_taken_are_passed_over);
    RUN_TEST(test_a_file_that_shrinks_while_it_is_read_is_an_error);
    return UNITY_END();
}
