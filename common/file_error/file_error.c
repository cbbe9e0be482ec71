/* SPDX-License-Identifier: MIT */
/* Failed open, read or write: errno -> cause and remedy as text. */
#define _GNU_SOURCE
#include "file_error.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct remedy {
    int err;
    const char *text;
};

static const struct remedy read_remedies[] = {
    {ENOENT, "check the name"},
    {EISDIR, "specify a file in that folder"},
    {EACCES, "check the permissions of the file and its folders with `namei -l`, or run as another "
             "user"},
    {0, NULL},
};

static const struct remedy write_remedies[] = {
    {ENOENT, "create its folder first with `mkdir -p`, or use another path"},
    {EACCES, "check the permissions there with `namei -l`, or use another path"},
    {EPERM, "the file or its folder may be protected: check with `lsattr`, or use another path"},
    {EROFS, "use a writable file system"},
    {ENOSPC, "free some space there, or use another disk"},
    {EDQUOT, "free some of your quota there, or use another disk"},
    {EFBIG, "raise the limit with `ulimit -f unlimited`, or choose a file system that supports "
            "larger files"},
    {EISDIR, "specify a file in that folder"},
    {ETXTBSY, "it is a running program; use another name"},
    {EBADF, "it is closed; leave it open, or specify a file"},
    {EPIPE, "the reader of the pipe has exited; start it again, or specify a file"},
    {0, NULL},
};

static const struct remedy common_remedies[] = {
    {ENOTDIR, "a part of the path is a file, not a folder; check the name"},
    {ELOOP, "its symbolic links form a loop; remove one of them"},
    {ENAMETOOLONG, "shorten the name"},
    {EMFILE, "raise the limit of open files, `ulimit -n`"},
    {ENFILE, "raise the system-wide limit of open files, sysctl fs.file-max"},
    {EIO, "the medium may be failing; see the kernel log, `dmesg`"},
    {0, NULL},
};

static const char *find(const struct remedy *list, int err)
{
    while (list->text && list->err != err)
        ++list;
    return list->text;
}

static const char *explain(const struct remedy *own, int err)
{
    static __thread char text[256];
    char cause[128];
    const char *remedy = find(own, err);

    if (!remedy)
        remedy = find(common_remedies, err);
    snprintf(text, sizeof(text), remedy ? "%s (%s)" : "%s", strerror_r(err, cause, sizeof(cause)),
             remedy);
    return text;
}

const char *nslice_read_error(int err)
{
    return explain(read_remedies, err);
}

const char *nslice_write_error(int err)
{
    return explain(write_remedies, err);
}
