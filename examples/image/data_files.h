/* Which files --data means. */
#ifndef DATA_FILES_H
#define DATA_FILES_H

enum { PATH_ROOM = 4096 };

typedef struct {
    char train[PATH_ROOM], test[PATH_ROOM]; /* images; "" if it was not asked for */
    char name[128];                         /* "emnist-npsplit" */
    int transposed;                         /* as EMNIST's are */
} data_files;

/*
 * data is a folder with *train-images-idx3-ubyte[.gz] and *test-... or *t10k-... of the same
 * beginning; the first of these files; or both files, with a comma between. test_only: a file that
 * is no training set is the test set. 0, or -1 after a complaint.
 */
int data_files_find(const char *data, int test_only, data_files *out);

/* out [PATH_ROOM]: labels that belong to a file of images; 0, or -1 after a complaint. */
int data_files_labels(const char *images, char *out);

#endif /* DATA_FILES_H */
