/* SPDX-License-Identifier: MIT */
/* captures: command-line arguments -> a list of captures. */
#include "captures/captures.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file_error/file_error.h"

static int explain(char *why, size_t bytes, const char *path)
{
    snprintf(why, bytes, "%s: %s", path, nslice_read_error(errno));
    return -1;
}

static int append(struct captures *captures, const char *path, int is_of_folder)
{
    struct capture *longer =
        realloc(captures->list, sizeof(*longer) * (size_t)(captures->count + 1));
    char *copy = strdup(path);

    if (longer)
        captures->list = longer;
    if (!longer || !copy) {
        free(copy);
        return -1;
    }
    captures->list[captures->count++] = (struct capture){copy, is_of_folder};
    return 0;
}

static int add_member(struct captures *captures, const char *folder, const char *name)
{
    const size_t bytes = strlen(folder) + strlen(name) + sizeof("/");
    struct stat status;
    int result = 0;
    char *path;

    if (*name == '.')
        return 0;
    if (!(path = malloc(bytes)))
        return -1;
    snprintf(path, bytes, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
        result = append(captures, path, 1);
    free(path);
    return result;
}

static int add_folder(struct captures *captures, const char *path, char *why, size_t bytes)
{
    struct dirent **members;
    const int before = captures->count;
    const int count = scandir(path, &members, NULL, alphasort);
    int i, result = 0;

    if (count < 0)
        return explain(why, bytes, path);
    for (i = 0; i < count; i++) {
        if (result == 0)
            result = add_member(captures, path, members[i]->d_name);
        free(members[i]);
    }
    free(members);
    if (result < 0)
        return explain(why, bytes, path);
    if (captures->count > before)
        return 0;
    snprintf(why, bytes, "%s: the folder contains no files", path);
    return -1;
}

int captures_add(struct captures *captures, const char *path, char *why, size_t bytes)
{
    struct stat status;

    if (*path && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return add_folder(captures, path, why, bytes);
    return append(captures, path, 0) ? explain(why, bytes, path) : 0;
}

void captures_free(struct captures *captures)
{
    while (captures->count > 0)
        free(captures->list[--captures->count].path);
    free(captures->list);
    captures->list = NULL;
}

int captures_have_stream(const struct captures *captures)
{
    struct stat status;
    int i;

    for (i = 0; i < captures->count; i++) {
        const char *path = captures->list[i].path;
        const int found = strcmp(path, "-") ? stat(path, &status) : fstat(STDIN_FILENO, &status);
        if (found == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) &&
            !S_ISBLK(status.st_mode))
            return 1;
    }
    return 0;
}
