/* SPDX-License-Identifier: MIT */
/* Session memory (nslice/session.h) as one process makes and maps it. */
#ifndef NSP_SHM_H
#define NSP_SHM_H

#include <stdint.h>

#include <nslice/session.h>

#include <nsprobe/session.h>

#include "recorder/descriptor.h"

#define NSP_DEFAULT_RING_BYTES (4ull << 20)

/*
 * The size is sealed, or kept by nsmod, and checked by whoever maps it.  The
 * drain takes nothing on trust; the probes do: their rings' heads and masks are
 * here, so processes that do not trust each other must not share a session.
 */

/* A session's memory as one process sees it. */
struct nsp_shm_map {
    struct nslice_session *shm;
    char *announcements;
    char *rings;          /* meta page of CPU 0; next CPU `stride_bytes` further */
    uint64_t stride_bytes; /* meta page + data + the data once more */
    uint64_t ring_bytes;  /* this and cpus as checked when mapped: others may change what stands in shm */
    uint32_t cpus;
    uint64_t mapped_bytes;
    void *mapping;
    int fd;
    struct nsp_descriptor_file file; /* of fd */
    int is_module; /* the kernel module's memory */
    int is_maker;  /* this process made the session, and ends it */
};

/* Makes a session's memory.  0 or -errno: -EINVAL the configuration is wrong, others: the machine has not what it asks for. */
int nsp_shm_create(const struct nsp_session_config *config, struct nsp_shm_map *out);

/* Maps what has been checked: fd holds NSLICE_SESSION_BYTES(cpus, ring_bytes).  0 or -errno. */
int nsp_shm_map_fd(int fd, uint32_t cpus, uint64_t ring_bytes, struct nsp_shm_map *out);

/* Maps a session's memory that another process made; takes over fd when it succeeds. */
int nsp_shm_open(int fd, struct nsp_shm_map *out);

/* Closes the descriptor, if it still is the session's; the mapping stays. */
void nsp_shm_close_file(struct nsp_shm_map *map);

/* Words that stand in the session's memory, where any process of it may write: without control characters, terminated. */
void nsp_shm_copy_words(char *to, const char *from, size_t room);

void nsp_shm_close(struct nsp_shm_map *map);

/* Memory of a session that is over: unmapped only when several more are over. */
void nsp_shm_keep(struct nsp_shm_map *map);

static inline struct nslice_ring_meta *nsp_shm_ring(const struct nsp_shm_map *map, uint32_t cpu)
{
    return (struct nslice_ring_meta *)(map->rings + (uint64_t)cpu * map->stride_bytes);
}

/*
 * Faults in the rings of the CPUs that the calling thread may run on: the first
 * writer of a page would pay a microsecond for it otherwise.
 */
void nsp_shm_populate(const struct nsp_shm_map *map);

/* Greatest CPU number that this machine may ever have, plus one. */
uint32_t nsp_possible_cpus(void);

#endif /* NSP_SHM_H */
