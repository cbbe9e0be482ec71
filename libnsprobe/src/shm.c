/* SPDX-License-Identifier: MIT */
/* Session memory: configuration -> memory file -> mapping with every ring's data twice in a row. */
#define _GNU_SOURCE
#include "shm.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "memory.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Nobody who has the descriptor may take the memory away under the others. */
#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define SLOW_RING_BYTES (512ull << 20) /* from here on the user waits for a second and more */
#define KEPT_MAPS 8
#define MIN_RING_BYTES 4096ull
#define MAX_RING_BYTES (8ull << 30) /* positions count 2^32 units of 8 bytes; a quarter of that keeps differences signed */

uint32_t nsp_possible_cpus(void)
{
    unsigned last = 0;
    FILE *file = fopen("/sys/devices/system/cpu/possible", "re");

    if (file) {
        int c;

        /* "0-3" or "0,2-5": the last number is the greatest */
        while (fscanf(file, "%u", &last) == 1) {
            c = fgetc(file);
            if (c != '-' && c != ',')
                break;
        }
        fclose(file);
    } else {
        long configured = sysconf(_SC_NPROCESSORS_CONF);

        last = configured > 0 ? (unsigned)configured - 1 : 0;
    }
    return last + 1;
}

static uint64_t ring_file_bytes(uint64_t ring_bytes)
{
    return NSLICE_RING_META_BYTES + ring_bytes;
}

static uint64_t rings_offset(void)
{
    return NSP_SHM_HEADER_BYTES + NSP_SHM_ANNOUNCE_BYTES;
}

static uint64_t file_bytes(uint32_t cpus, uint64_t ring_bytes)
{
    return rings_offset() + cpus * ring_file_bytes(ring_bytes);
}

static int map_ring(int fd, char *at, uint64_t offset, uint64_t ring_bytes)
{
    const int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_FIXED;
    uint64_t first_bytes = ring_file_bytes(ring_bytes);

    if (mmap(at, first_bytes, prot, flags, fd, (off_t)offset) == MAP_FAILED)
        return -errno;
    if (mmap(at + first_bytes, ring_bytes, prot, flags, fd, (off_t)(offset + NSLICE_RING_META_BYTES)) ==
        MAP_FAILED)
        return -errno;
    return 0;
}

/* The caller has checked that fd holds file_bytes(cpus, ring_bytes). */
static int map_all(int fd, uint32_t cpus, uint64_t ring_bytes, struct nsp_shm_map *out)
{
    uint64_t stride_bytes = NSLICE_RING_META_BYTES + 2 * ring_bytes;
    uint64_t total_bytes = rings_offset() + cpus * stride_bytes;
    char *base = mmap(NULL, total_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int err = 0;

    if (base == MAP_FAILED)
        return nsp_fail(-errno, "cannot reserve %llu MiB of address space for the rings of %u CPUs",
                        (unsigned long long)(total_bytes >> 20), cpus);
    if (mmap(base, rings_offset(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
        err = -errno;
    for (uint32_t cpu = 0; cpu < cpus && !err; ++cpu)
        err = map_ring(fd, base + rings_offset() + cpu * stride_bytes,
                       rings_offset() + cpu * ring_file_bytes(ring_bytes), ring_bytes);
    if (err) {
        munmap(base, total_bytes);
        return nsp_fail(err, "cannot map the rings (%llu bytes for each of %u CPUs): %s",
                        (unsigned long long)ring_bytes, cpus, strerror(-err));
    }
    /* A child of fork() shares the rings on purpose; a core dump need not hold them. */
    madvise(base, total_bytes, MADV_DONTDUMP);
    *out = (struct nsp_shm_map){
        .shm = (struct nsp_shm *)base,
        .announcements = base + NSP_SHM_HEADER_BYTES,
        .rings = base + rings_offset(),
        .stride_bytes = stride_bytes,
        .ring_bytes = ring_bytes,
        .cpus = cpus,
        .mapped_bytes = total_bytes,
        .mapping = base,
        .fd = fd,
    };
    return 0;
}

static void fill_ring_meta(struct nslice_ring_meta *meta, const struct nsp_session_config *config,
                           uint32_t cpu)
{
    uint32_t units = (uint32_t)(config->ring_bytes / NSLICE_UNIT_BYTES);

    meta->magic = NSLICE_RING_MAGIC;
    meta->abi_version = NSLICE_ABI_VERSION;
    meta->kind = (uint16_t)config->ring_kind;
    meta->cpu = cpu;
    meta->full = config->full;
    meta->data_bytes = config->ring_bytes;
    meta->limit = units;
    meta->mask = units - 1;
}

static void fill_header(struct nsp_shm *shm, const struct nsp_session_config *config, uint32_t cpus)
{
    shm->magic = NSP_SHM_MAGIC;
    shm->version = NSP_SHM_VERSION;
    shm->cpus = cpus;
    shm->clock = config->clock;
    shm->full = config->full;
    shm->source = config->source;
    shm->step_every = config->step_every ? config->step_every : 1;
    shm->no_calibration = config->no_calibration;
    shm->ring_bytes = config->ring_bytes;
    shm->ring_kind = config->ring_kind;
    shm->next_slice_id = 1;
    if (config->counters)
        snprintf(shm->counters, sizeof(shm->counters), "%s", config->counters);
}

/* Rings are faulted in at the start: better no session than one that drives the machine out of memory. */
static int check_memory(uint64_t ring_bytes)
{
    const uint64_t available = nsp_available_memory_bytes();
    cpu_set_t allowed;
    uint64_t cpus;

    if (sched_getaffinity(0, sizeof(allowed), &allowed))
        return 0;
    cpus = (uint64_t)CPU_COUNT(&allowed);
    if (cpus * ring_bytes <= available)
        return 0;
    return nsp_fail(-ENOMEM, "ring size %llu MiB: %llu CPUs need %llu MiB, %llu MiB of memory are available; use smaller rings",
                    (unsigned long long)(ring_bytes >> 20), (unsigned long long)cpus,
                    (unsigned long long)(cpus * ring_bytes >> 20), (unsigned long long)(available >> 20));
}

static int check_values(const struct nsp_session_config *config)
{
    const uint64_t bytes = config->ring_bytes;

    if (config->counters && strlen(config->counters) >= NSP_MAX_COUNTERS_TEXT)
        return nsp_fail(-EINVAL, "counters: list longer than %d characters", NSP_MAX_COUNTERS_TEXT - 1);
    if ((unsigned)config->full > NSLICE_FULL_OVERWRITE || (unsigned)config->clock > NSP_CLOCK_ORDERED ||
        config->ring_kind > NSLICE_RING_ATOMIC || (unsigned)config->source > NSP_SOURCE_PAPI)
        return nsp_fail(-EINVAL, "nsp_session_config holds a value out of range");
    if (bytes < MIN_RING_BYTES || bytes > MAX_RING_BYTES || (bytes & (bytes - 1)))
        return nsp_fail(-EINVAL, "ring size %llu: must be a power of two from 4 KiB to 8 GiB",
                        (unsigned long long)bytes);
    return check_memory(bytes);
}

int nsp_shm_create(const struct nsp_session_config *given, struct nsp_shm_map *out)
{
    struct nsp_session_config config = *given;
    uint32_t cpus = nsp_possible_cpus();
    int fd, err;

    if (config.ring_bytes == 0)
        config.ring_bytes = NSP_DEFAULT_RING_BYTES;
    err = check_values(&config);
    if (err)
        return err;
    fd = memfd_create("netslice-session", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return nsp_fail(-errno, "cannot make the session's memory (memfd_create): %s", strerror(errno));
    if (ftruncate(fd, (off_t)file_bytes(cpus, config.ring_bytes))) {
        err = nsp_fail(errno == EFBIG ? -ENOMEM : -errno, "cannot size the session's memory to %llu MiB: %s%s",
                       (unsigned long long)(file_bytes(cpus, config.ring_bytes) >> 20), strerror(errno),
                       errno == EFBIG ? "; `ulimit -f` limits it, as it limits files" : "");
        close(fd);
        return err;
    }
    err = fcntl(fd, F_ADD_SEALS, SIZE_SEALS) ? nsp_fail(-errno, "cannot seal the session's memory: %s", strerror(errno))
                                             : map_all(fd, cpus, config.ring_bytes, out);
    if (err) {
        close(fd);
        return err;
    }
    fill_header(out->shm, &config, cpus);
    for (uint32_t cpu = 0; cpu < cpus; ++cpu)
        fill_ring_meta(nsp_shm_ring(out, cpu), &config, cpu);
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
        if (CPU_ISSET(cpu, &allowed)) /* both mappings; a kernel before 5.14 refuses, and probes fault pages in one by one */
            madvise(nsp_shm_ring(map, cpu), map->stride_bytes, MADV_POPULATE_WRITE);
}

int nsp_shm_open(int fd, struct nsp_shm_map *out)
{
    struct nsp_shm header;
    struct stat st;

    if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) || header.magic != NSP_SHM_MAGIC)
        return nsp_fail(-EBADF, "descriptor %d is not a netslice session", fd);
    if ((fcntl(fd, F_GET_SEALS) & SIZE_SEALS) != SIZE_SEALS)
        return nsp_fail(-EINVAL, "session memory is not sealed: its size could change while it is used");
    if (header.version != NSP_SHM_VERSION)
        return nsp_fail(-EPROTO, "session memory has version %u, this library knows %u: use nsdump and "
                        "libnsprobe of one release", header.version, NSP_SHM_VERSION);
    if (fstat(fd, &st) || header.cpus == 0 || header.cpus > 65536 || header.ring_bytes < MIN_RING_BYTES ||
        header.ring_bytes > MAX_RING_BYTES || (header.ring_bytes & (header.ring_bytes - 1)) ||
        (uint64_t)st.st_size < file_bytes(header.cpus, header.ring_bytes))
        return nsp_fail(-EINVAL, "session memory is damaged: sizes do not fit");
    return map_all(fd, header.cpus, header.ring_bytes, out);
}

/*
 * A thread may have been put aside in the middle of a probe; when it goes on it
 * must still find a ring that refuses.
 */
void nsp_shm_keep(struct nsp_shm_map *map)
{
    static struct nsp_shm_map kept[KEPT_MAPS];
    static unsigned next;
    struct nsp_shm_map *place;

    if (!map->mapping)
        return;
    if (map->fd >= 0)
        close(map->fd); /* the mapping lives without it */
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
    if (map->fd >= 0)
        close(map->fd);
    memset(map, 0, sizeof(*map));
    map->fd = -1;
}
