/* SPDX-License-Identifier: MIT */
/* Session memory: one memory file that holds settings, announcements and the rings of all CPUs. */
#ifndef NSP_SHM_H
#define NSP_SHM_H

#include <stdint.h>

#include <nslice/ring.h>

#include <nsprobe/session.h>

#define NSP_SHM_MAGIC 0x6d68736e /* "nshm" */
#define NSP_SHM_VERSION 1
#define NSP_SHM_HEADER_BYTES 4096
#define NSP_SHM_ANNOUNCE_BYTES (64ull << 20)
#define NSP_MAX_COUNTERS_TEXT 256
#define NSP_DEFAULT_RING_BYTES (4ull << 20)

/*
 * Shared by the processes that write and the one that drains.  Sparse: what
 * nobody touches costs nothing.  Its size is sealed and checked by whoever maps
 * it.  The drain takes nothing on trust; the probes do: their rings' heads and
 * masks are here, so processes that do not trust each other must not share a
 * session.
 */
struct nsp_shm {
    uint32_t magic;
    uint32_t version;
    uint32_t cpus;
    uint32_t clock; /* enum nsp_clock_mode */
    uint32_t full;  /* enum nslice_ring_full */
    uint32_t source;
    uint32_t step_every;
    uint32_t no_calibration;
    uint64_t ring_bytes;

    /* changed while the session runs, by atomic operations */
    uint32_t ring_kind; /* enum nslice_ring_kind; the first process decides */
    uint32_t next_slice_id;
    uint32_t joined;  /* processes that ever wrote here */
    uint32_t refused; /* processes that could not take part; `refusal` has the last reason */
    uint32_t dropped_sites;
    uint64_t announce_tail; /* bytes claimed in the announcement log */
    uint64_t dropped_announcements;
    char counters[NSP_MAX_COUNTERS_TEXT];
    char refusal[512];
};

/* A session's memory as one process sees it. */
struct nsp_shm_map {
    struct nsp_shm *shm;
    char *announcements;
    char *rings;          /* meta page of CPU 0; next CPU `stride_bytes` further */
    uint64_t stride_bytes; /* meta page + data + the data once more */
    uint64_t ring_bytes;  /* this and cpus as checked when mapped: others may change what stands in shm */
    uint32_t cpus;
    uint64_t mapped_bytes;
    void *mapping;
    int fd;
};

/* Makes a session's memory.  0 or -errno: -EINVAL the configuration is wrong, others: the machine has not what it asks for. */
int nsp_shm_create(const struct nsp_session_config *config, struct nsp_shm_map *out);

/* Maps a session's memory that another process made; takes over fd when it succeeds. */
int nsp_shm_open(int fd, struct nsp_shm_map *out);

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
