/* SPDX-License-Identifier: MIT */
/* Process -> whether it has mapped, or may map, a session's memory; from /proc. */
#define _GNU_SOURCE
#include "part.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nsprobe/recorder.h>

/* A line in maps: start address, device and inode. */
struct mapped_file {
    unsigned long begin;
    char device[32];
    unsigned long long inode;
};

static int parse(const char *line, struct mapped_file *out)
{
    return sscanf(line, "%lx-%*x %*s %*x %31s %llu", &out->begin, out->device, &out->inode) == 3;
}

/* Finds the first line that `is_it` accepts. */
static int find(const char *path,
                int (*is_it)(const struct mapped_file *, const struct mapped_file *),
                const struct mapped_file *wanted, struct mapped_file *found)
{
    FILE *maps = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    int answer = 0;

    if (!maps)
        return -errno;
    while (!answer && getline(&line, &room, maps) > 0)
        answer = parse(line, found) && is_it(found, wanted);
    if (!answer && ferror(maps))
        answer = -EIO;
    free(line);
    fclose(maps);
    return answer;
}

static int is_at(const struct mapped_file *line, const struct mapped_file *wanted)
{
    return line->begin == wanted->begin;
}

static int is_same(const struct mapped_file *line, const struct mapped_file *wanted)
{
    return line->inode == wanted->inode && strcmp(line->device, wanted->device) == 0;
}

static int holds_descriptor(int pid, const struct stat *session)
{
    char path[64];
    DIR *folder;
    const struct dirent *one;
    struct stat file;
    int answer = 0;

    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    folder = opendir(path);
    if (!folder)
        return -errno;
    while (!answer && (one = readdir(folder)))
        answer = fstatat(dirfd(folder), one->d_name, &file, 0) == 0 &&
                 file.st_dev == session->st_dev && file.st_ino == session->st_ino;
    closedir(folder);
    return answer;
}

int nsp_part_of(const struct nsp_shm_map *map, int pid)
{
    const struct mapped_file here = {.begin = (unsigned long)map->shm};
    struct mapped_file own, theirs;
    struct stat session;
    char path[64];
    int answer = find("/proc/self/maps", is_at, &here, &own);

    if (answer <= 0)
        return answer ? answer : -EIO;
    snprintf(path, sizeof(path), "/proc/%d/maps", pid);
    answer = find(path, is_same, &own, &theirs);
    if (answer)
        return answer < 0 ? answer : NSP_PART_TAKEN;
    if (fstat(map->fd, &session))
        return -errno;
    answer = holds_descriptor(pid, &session);
    return answer < 0 ? answer : answer ? NSP_PART_POSSIBLE : NSP_PART_NONE;
}
