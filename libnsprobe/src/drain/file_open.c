/* SPDX-License-Identifier: MIT */
/* Trace file: name or descriptor -> a file that this session alone writes, or why not. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_error/file_error.h"
#include "file_write.h"
#include "session/error.h"

/*
 * The file may be a program, a capture or a document: only a trace or an empty file is
 * replaced by a trace.
 */
static int check_content(int fd, const char *path)
{
    char magic[sizeof(NSLICE_FILE_MAGIC) - 1];
    const ssize_t got = fd < 0 ? -1 : pread(fd, magic, sizeof(magic), 0);

    if (got < 0)
        return nsp_fail(-errno, "%s: exists, but cannot be read to check whether it is a trace: %s",
                        path, nslice_read_error(errno));
    if (got == (ssize_t)sizeof(magic) && memcmp(magic, NSLICE_FILE_MAGIC, sizeof(magic)) == 0)
        return 0;
    return nsp_fail(-EEXIST, "%s: exists and is not a trace (remove it, or use another name)",
                    path);
}

static int refuse_to_open(const char *path, int err)
{
    if (err == ENXIO)
        return nsp_fail(-err, "%s: has no reader (if it is a pipe, start the reader first)", path);
    return nsp_fail(-err, "%s: cannot create the trace file: %s", path, nslice_write_error(err));
}

/* Non-blocking: a pipe without a reader would block the program forever. */
static int open_now(struct nsp_file *file, const char *path)
{
    const int flags = O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_CREAT;

    file->fd = open(path, flags | O_EXCL, 0644);
    file->is_new = file->fd >= 0;
    if (file->fd < 0 && errno == EEXIST)
        file->fd = open(path, flags, 0644); /* a dangling link exists, too */
    if (file->fd < 0)
        return refuse_to_open(path, errno);
    file->fd = nsp_descriptor_move_up(file->fd);
    fcntl(file->fd, F_SETFL, fcntl(file->fd, F_GETFL) & ~O_NONBLOCK);
    return 0;
}

/* Under any name: output would overwrite the trace.  Terminals and /dev/null hold no trace. */
static int is_where_it_prints(const struct stat *file)
{
    struct stat standard;

    if (S_ISCHR(file->st_mode))
        return 0;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; ++fd)
        if (fstat(fd, &standard) == 0 && nsp_descriptor_same_file(file, &standard))
            return 1;
    return 0;
}

/*
 * A program and those that it starts may all use the same name: the second would
 * overwrite the trace of the first.
 */
static int lock_alone(struct nsp_file *file, const char *path, struct stat *opened)
{
    if (fstat(file->fd, opened))
        return nsp_fail(-errno, "%s: cannot stat: %s", path, nslice_write_error(errno));
    file->file = (struct nsp_descriptor_file){.device = opened->st_dev, .inode = opened->st_ino};
    if (is_where_it_prints(opened))
        return nsp_fail(
            -EINVAL,
            "%s: is the program's standard output or error (use a separate file or a named pipe)",
            path);
    if (!S_ISREG(opened->st_mode))
        return 0; /* devices and pipes may be shared */
    if (flock(file->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        file->is_new = 0; /* the other session's */
        return nsp_fail(
            -EBUSY,
            "%s: another session is writing this file (use another name, or %%p in it for the "
            "process id)",
            path);
    }
    return 0;
}

/* The program may change its directory before the file has to be reopened. */
static void note_place(struct nsp_file *file, const char *path)
{
    char *const whole = realpath(path, NULL);
    struct stat root;

    if (stat("/", &root) == 0) {
        file->root_device = root.st_dev;
        file->root = root.st_ino;
    }
    if (whole && strlen(whole) < sizeof(file->place))
        memcpy(file->place, whole, strlen(whole) + 1);
    free(whole);
}

/* -ESTALE: another session that gave up has removed the file meanwhile. */
static int lock_named(struct nsp_file *file, const char *path)
{
    struct stat opened, named;
    int err = lock_alone(file, path, &opened), fd;

    if (err || !S_ISREG(opened.st_mode))
        return err;
    if (stat(path, &named) || !nsp_descriptor_same_file(&opened, &named))
        return -ESTALE;
    note_place(file, path);
    if (opened.st_size == 0)
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    err = check_content(fd, path);
    if (fd >= 0)
        close(fd);
    return err;
}

static int lock_given(struct nsp_file *file, const char *name)
{
    const int flags = fcntl(file->fd, F_GETFL);
    struct stat opened;
    int err;

    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return nsp_fail(-EBADF, "%s: is not open for writing", name);
    err = lock_alone(file, name, &opened);
    if (err || !S_ISREG(opened.st_mode))
        return err;
    if (opened.st_size > 0)
        err = check_content(file->fd, name);
    if (!err && lseek(file->fd, 0, SEEK_SET) < 0)
        err = nsp_fail(-errno, "%s: cannot write: %s", name, nslice_write_error(errno));
    return err;
}

int nsp_file_open(struct nsp_file *file, const char *path)
{
    int err;

    do {
        memset(file, 0, sizeof(*file));
        snprintf(file->path, sizeof(file->path), "%s", path);
        err = open_now(file, path);
        if (err)
            return err;
        err = lock_named(file, path);
        if (err)
            nsp_file_abandon(file);
    } while (err == -ESTALE);
    return err;
}

int nsp_file_take(struct nsp_file *file, int given, const char *name)
{
    int err;

    memset(file, 0, sizeof(*file));
    snprintf(file->path, sizeof(file->path), "%s", name);
    file->is_given = 1;
    file->fd = fcntl(given, F_DUPFD_CLOEXEC, NSP_HIGH_DESCRIPTOR);
    if (file->fd < 0 && errno == EINVAL) /* the limit is lower */
        file->fd = fcntl(given, F_DUPFD_CLOEXEC, 0);
    if (file->fd < 0)
        return nsp_fail(-errno, "%s: cannot write: %s", name, nslice_write_error(errno));
    err = nsp_descriptor_note(file->fd, &file->file); /* first: only a noted file is closed again */
    if (!err)
        err = lock_given(file, name);
    if (err)
        nsp_file_abandon(file);
    return err;
}
