/* SPDX-License-Identifier: MIT */
/* Session memory (nslice/session.h) as one process creates and maps it. */
#ifndef NSP_SHM_H
#define NSP_SHM_H

#include <stdint.h>

#include <nslice/session.h>

#include <nsprobe/session.h>

#include "recorder/descriptor.h"

#define NSP_DEFAULT_RING_BYTES (4ull << 20)

/*
 * The size is sealed, or fixed by nsmod, and checked by each process that maps it.
 * The drain does not trust the contents, but the probes do: the heads and masks of
 * their rings are here, so mutually distrusting processes must not share a session.
 */

/* A session's memory as one process sees it. */
struct nsp_shm_map {
    struct nslice_session *shm;
    char *announcements;
    char *rings;           /* meta page of CPU 0; the next CPU's follows after `stride_bytes` */
    uint64_t stride_bytes; /* meta page + data + second mapping of the data */
    uint64_t ring_bytes;   /* this and cpus as checked when mapped: others may change shm */
    uint32_t cpus;
    uint64_t mapped_bytes;
    void *mapping;
    int fd;
    struct nsp_descriptor_file file; /* of fd */
    int is_module;                   /* the kernel module's memory */
    int is_maker;                    /* this process created the session, and ends it */
};

/*
 * Creates a session's memory.  Returns 0 or -errno.  -EINVAL: invalid configuration; others: the
 * machine cannot provide it.
 */
int nsp_shm_create(const struct nsp_session_config *given, struct nsp_shm_map *out);

/* Maps a checked session: fd has NSLICE_SESSION_BYTES(cpus, ring_bytes).  Returns 0 or -errno. */
int nsp_shm_map_fd(int fd, uint32_t cpus, uint64_t ring_bytes, struct nsp_shm_map *out);

/* Maps a session's memory created by another process; takes over fd on success. */
int nsp_shm_open(int fd, struct nsp_shm_map *out);

/* Closes the descriptor if it still is the session's; the mapping stays. */
void nsp_shm_close_file(struct nsp_shm_map *map);

/*
 * Copies text from the session's memory, which any of its processes may write: without control
 * characters, zero-terminated.
 */
void nsp_shm_copy_words(char *to, const char *from, size_t room);

void nsp_shm_close(struct nsp_shm_map *map);

/* Gives back the memory of all records, which are drained; late ones find empty pages. */
void nsp_shm_free_records(const struct nsp_shm_map *map);

/* Memory of a finished session: unmapped only after several more sessions have finished. */
void nsp_shm_keep(struct nsp_shm_map *map);

static inline struct nslice_ring_meta *nsp_shm_ring(const struct nsp_shm_map *map, uint32_t cpu)
{
    return (struct nslice_ring_meta *)(map->rings + (uint64_t)cpu * map->stride_bytes);
}

/*
 * Faults in the rings of the CPUs that the calling thread may run on: otherwise the
 * first writer of each page would pay a microsecond.
 */
void nsp_shm_populate(const struct nsp_shm_map *map);

/* Highest possible CPU number of this machine, plus one. */
uint32_t nsp_possible_cpus(void);

#endif /* NSP_SHM_H */
