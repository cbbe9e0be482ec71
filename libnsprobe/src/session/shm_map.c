/* SPDX-License-Identifier: MIT */
/* Session memory -> one mapping with every ring's data mapped twice in a row; and unmapping. */
#define _GNU_SOURCE
#include "shm.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error.h"
#include "module.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define SLOW_RING_BYTES (512ull << 20) /* from here on faulting in takes a second or more */
#define KEPT_MAPS 8

static int map_ring(int fd, char *at, uint64_t offset, uint64_t ring_bytes)
{
    const int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_FIXED;
    uint64_t first_bytes = NSLICE_RING_META_BYTES + ring_bytes;

    if (mmap(at, first_bytes, prot, flags, fd, (off_t)offset) == MAP_FAILED)
        return -errno;
    if (mmap(at + first_bytes, ring_bytes, prot, flags, fd,
             (off_t)(offset + NSLICE_RING_META_BYTES)) == MAP_FAILED)
        return -errno;
    return 0;
}

int nsp_shm_map_fd(int fd, uint32_t cpus, uint64_t ring_bytes, struct nsp_shm_map *out)
{
    uint64_t stride_bytes = NSLICE_RING_META_BYTES + 2 * ring_bytes;
    uint64_t total_bytes = NSLICE_SESSION_RINGS_OFFSET + cpus * stride_bytes;
    char *base =
        mmap(NULL, total_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int err = 0;

    if (base == MAP_FAILED)
        return nsp_fail(-errno, "cannot reserve %llu MiB of address space for the rings of %u CPUs",
                        (unsigned long long)(total_bytes >> 20), cpus);
    if (mmap(base, NSLICE_SESSION_RINGS_OFFSET, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
             0) == MAP_FAILED)
        err = -errno;
    for (uint32_t cpu = 0; cpu < cpus && !err; ++cpu)
        err = map_ring(fd, base + NSLICE_SESSION_RINGS_OFFSET + cpu * stride_bytes,
                       NSLICE_SESSION_RING_OFFSET(cpu, ring_bytes), ring_bytes);
    if (err) {
        munmap(base, total_bytes);
        return nsp_fail(err, "cannot map the rings (%llu bytes for each of %u CPUs): %s",
                        (unsigned long long)ring_bytes, cpus, strerror(-err));
    }
    /* A child of fork() shares the rings intentionally; core dumps exclude them. */
    madvise(base, total_bytes, MADV_DONTDUMP);
    *out = (struct nsp_shm_map){
        .shm = (struct nslice_session *)base,
        .announcements = base + NSLICE_SESSION_HEADER_BYTES,
        .rings = base + NSLICE_SESSION_RINGS_OFFSET,
        .stride_bytes = stride_bytes,
        .ring_bytes = ring_bytes,
        .cpus = cpus,
        .mapped_bytes = total_bytes,
        .mapping = base,
        .fd = fd,
        .is_module = nsp_module_has(fd),
    };
    nsp_descriptor_note(fd, &out->file);
    return 0;
}

void nsp_shm_populate(const struct nsp_shm_map *map)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof(allowed), &allowed))
        return;
    if (map->ring_bytes >= SLOW_RING_BYTES)
        fprintf(stderr, "netslice: faulting in rings of %llu MiB for each of %d CPUs\n",
                (unsigned long long)(map->ring_bytes >> 20), CPU_COUNT(&allowed));
    for (uint32_t cpu = 0; cpu < map->cpus && cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &allowed)) /* both mappings; before Linux 5.14 pages fault in later */
            madvise(nsp_shm_ring(map, cpu), map->stride_bytes, MADV_POPULATE_WRITE);
}

void nsp_shm_copy_words(char *to, const char *from, size_t room)
{
    size_t i;

    for (i = 0; i + 1 < room; ++i) {
        const char c = ((const volatile char *)from)[i];

        if (!c)
            break;
        to[i] = c >= ' ' && c != 127 ? c : '?';
    }
    to[i] = 0;
}

void nsp_shm_close_file(struct nsp_shm_map *map)
{
    if (nsp_descriptor_is(map->fd, &map->file))
        close(map->fd);
    map->fd = -1;
}

static void close_file(struct nsp_shm_map *map)
{
    if (map->is_maker && map->is_module && nsp_descriptor_is(map->fd, &map->file))
        nsp_module_end(map->fd);
    nsp_shm_close_file(map);
}

void nsp_shm_free_records(const struct nsp_shm_map *map)
{
    for (uint32_t cpu = 0; cpu < map->cpus; ++cpu) /* the second mapping has the same pages */
        madvise((char *)nsp_shm_ring(map, cpu) + NSLICE_RING_META_BYTES, map->ring_bytes,
                MADV_REMOVE);
}

/*
 * A thread may have been preempted inside a probe; when it resumes, it must still
 * find a closed ring.
 */
void nsp_shm_keep(struct nsp_shm_map *map)
{
    static struct nsp_shm_map kept[KEPT_MAPS];
    static unsigned next;
    struct nsp_shm_map *place;

    if (!map->mapping)
        return;
    close_file(map); /* the mapping stays valid without it */
    place = &kept[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % KEPT_MAPS];
    nsp_shm_close(place);
    *place = *map;
    place->fd = -1;
    memset(map, 0, sizeof(*map));
    map->fd = -1;
}

void nsp_shm_close(struct nsp_shm_map *map)
{
    if (!map->mapping)
        return;
    munmap(map->mapping, map->mapped_bytes);
    close_file(map);
    memset(map, 0, sizeof(*map));
    map->fd = -1;
}
