/* SPDX-License-Identifier: MIT */
/*
 * writer COUNT [FILE [stay]]: slices with a MARK each that carries 1, 2, ... COUNT, as fast as
 * possible; COUNT 0: until it is killed. FILE contains, as 8 bytes, the last number whose record is
 * written, even after the process was killed. stay: wait for a signal at the end.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nsprobe/probe.h>

static volatile uint64_t *map_count(const char *path)
{
    static volatile uint64_t none;
    int fd;
    void *page;

    if (!path)
        return &none;
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(uint64_t)))
        return NULL;
    page = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return page == MAP_FAILED ? NULL : page;
}

int main(int argc, char **argv)
{
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    volatile uint64_t *const committed = map_count(argc > 2 ? argv[2] : NULL);

    if (argc < 2 || argc > 4 || !committed) {
        fprintf(stderr, "usage: writer COUNT [FILE [stay]]\n");
        return 2;
    }
    for (uint64_t i = 1; count == 0 || i <= count; ++i) {
        NET_SLICE_START(slice);
        NET_SLICE_MARK(number, i);
        NET_SLICE_STOP(slice);
        *committed = i;
    }
    if (argc > 3)
        pause();
    return 0;
}
