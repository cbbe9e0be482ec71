/* SPDX-License-Identifier: MIT */
/* Session memory: configuration -> a memory file of the process, or memory of the kernel module. */
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

#include <nslice/control.h>

#include "error.h"
#include "memory.h"
#include "module.h"
#include "sites/selection.h"

/* No holder of the descriptor may shrink the memory while others use it. */
#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

uint32_t nsp_possible_cpus(void)
{
    unsigned last = 0;
    FILE *file = fopen("/sys/devices/system/cpu/possible", "re");

    if (file) {
        int c;

        /* "0-3" or "0,2-5": the last number is the highest */
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

static void fill_ring_meta(struct nslice_ring_meta *meta, const struct nsp_session_config *config,
                           uint32_t cpu)
{
    uint32_t words = (uint32_t)(config->ring_bytes / NSLICE_WORD_BYTES);

    meta->magic = NSLICE_RING_MAGIC;
    meta->abi_version = NSLICE_ABI_VERSION;
    meta->kind = (uint16_t)config->ring_kind;
    meta->cpu = cpu;
    meta->full = config->full;
    meta->data_bytes = config->ring_bytes;
    meta->limit = words;
    meta->mask = words - 1;
}

static void fill_header(struct nslice_session *shm, const struct nsp_session_config *config,
                        uint32_t cpus)
{
    shm->magic = NSLICE_SESSION_MAGIC;
    shm->version = NSLICE_SESSION_VERSION;
    shm->cpus = cpus;
    shm->clock = config->clock;
    shm->full = config->full;
    shm->source = config->source;
    shm->step_every = config->step_every ? config->step_every : 1;
    shm->no_calibration = config->no_calibration;
    shm->ring_bytes = config->ring_bytes;
    shm->ring_kind = config->ring_kind;
    shm->next_slice_id = 1;
    shm->thin_permille = config->thin_permille;
    shm->control = config->control != 0;
    if (config->counters)
        snprintf(shm->counters, sizeof(shm->counters), "%s", config->counters);
    if (config->slices)
        snprintf(shm->slices, sizeof(shm->slices), "%s", config->slices);
}

/* Rings are faulted in at the start: better to refuse a session than to exhaust the memory. */
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
    return nsp_fail(-ENOMEM,
                    "ring size %llu MiB: %llu CPUs need %llu MiB, %llu MiB of memory are "
                    "available (use smaller rings)",
                    (unsigned long long)(ring_bytes >> 20), (unsigned long long)cpus,
                    (unsigned long long)(cpus * ring_bytes >> 20),
                    (unsigned long long)(available >> 20));
}

static int check_values(const struct nsp_session_config *config)
{
    const uint64_t bytes = config->ring_bytes;

    if (config->counters && strlen(config->counters) >= NSLICE_SESSION_COUNTERS_TEXT)
        return nsp_fail(-EINVAL, "counters: list longer than %d characters",
                        NSLICE_SESSION_COUNTERS_TEXT - 1);
    if ((unsigned)config->full > NSLICE_FULL_OVERWRITE ||
        (unsigned)config->clock > NSP_CLOCK_ORDERED || config->ring_kind > NSLICE_RING_ATOMIC ||
        (unsigned)config->source > NSP_SOURCE_PAPI || (unsigned)config->memory > NSP_MEMORY_NSMOD ||
        (unsigned)config->drained_by > NSP_DRAINED_BY_NSMOD || config->thin_permille > 1000)
        return nsp_fail(-EINVAL, "nsp_session_config: a value is out of range");
    if (bytes < NSLICE_MIN_RING_BYTES || bytes > NSLICE_MAX_RING_BYTES || (bytes & (bytes - 1)))
        return nsp_fail(-EINVAL, "ring size %llu: must be a power of two from 4 KiB to 8 GiB",
                        (unsigned long long)bytes);
    if (config->slices && nsp_selection_check(config->slices))
        return -EINVAL;
    return check_memory(bytes);
}

/* A memory file of the process: freed with the last process that has it. */
static int create_file(const struct nsp_session_config *config, uint32_t cpus, int *out)
{
    const uint64_t bytes = NSLICE_SESSION_BYTES(cpus, config->ring_bytes);
    int fd = memfd_create("netslice-session", MFD_CLOEXEC | MFD_ALLOW_SEALING), err = 0;

    if (fd < 0)
        return nsp_fail(-errno, "cannot create the session's memory (memfd_create): %s",
                        strerror(errno));
    if (ftruncate(fd, (off_t)bytes))
        err = nsp_fail(errno == EFBIG ? -ENOMEM : -errno,
                       "cannot size the session's memory to %llu MiB: %s%s",
                       (unsigned long long)(bytes >> 20), strerror(errno),
                       errno == EFBIG ? "; `ulimit -f` limits it as it limits files" : "");
    else if (fcntl(fd, F_ADD_SEALS, SIZE_SEALS))
        err = nsp_fail(-errno, "cannot seal the session's memory: %s", strerror(errno));
    if (err)
        close(fd);
    else
        *out = fd;
    return err;
}

/* Uses the module's memory if available, unless configured otherwise; `reason`: why not. */
static int create_memory(const struct nsp_session_config *config, uint32_t *cpus, int *fd,
                         char *reason, size_t room)
{
    const uint32_t flags = config->drained_by == NSP_DRAINED_BY_NSMOD ? NSLICE_SESSION_DRAINED : 0;
    const int is_asked_for =
        config->memory == NSP_MEMORY_NSMOD || config->drained_by == NSP_DRAINED_BY_NSMOD;
    int err;

    reason[0] = 0;
    if (config->memory != NSP_MEMORY_PROCESS || is_asked_for) {
        err = nsp_module_session(config->ring_bytes, flags, fd, cpus);
        if (!err || is_asked_for)
            return err;
        snprintf(reason, room, "%s", nsp_last_error());
    } else {
        snprintf(reason, room, "asked for");
    }
    return create_file(config, *cpus, fd);
}

int nsp_shm_create(const struct nsp_session_config *given, struct nsp_shm_map *out)
{
    struct nsp_session_config config = *given;
    char reason[sizeof(((struct nslice_session *)0)->memory_reason)];
    uint32_t cpus = nsp_possible_cpus();
    int fd, err;

    if (config.ring_bytes == 0)
        config.ring_bytes = NSP_DEFAULT_RING_BYTES;
    err = check_values(&config);
    if (!err)
        err = create_memory(&config, &cpus, &fd, reason, sizeof(reason));
    if (err)
        return err;
    err = nsp_shm_map_fd(fd, cpus, config.ring_bytes, out);
    if (err) {
        close(fd);
        return err;
    }
    out->is_maker = 1;
    fill_header(out->shm, &config, cpus);
    memcpy(out->shm->memory_reason, reason, sizeof(reason));
    for (uint32_t cpu = 0; cpu < cpus; ++cpu)
        fill_ring_meta(nsp_shm_ring(out, cpu), &config, cpu);
    return 0;
}

/* Settings of another process's session.  A device has no pread(), but its mapping is trusted. */
static int read_header(int fd, int is_module, struct nslice_session *header)
{
    void *page;

    if (!is_module)
        return pread(fd, header, sizeof(*header), 0) == (ssize_t)sizeof(*header);
    page = mmap(NULL, NSLICE_SESSION_HEADER_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return 0;
    memcpy(header, page, sizeof(*header));
    munmap(page, NSLICE_SESSION_HEADER_BYTES);
    return 1;
}

/* Whether this size can be mapped, and is fixed. */
static int check_size(int fd, int is_module, uint64_t bytes)
{
    struct stat st;

    if (is_module)
        return 0; /* mmap() beyond its end fails */
    if ((fcntl(fd, F_GET_SEALS) & SIZE_SEALS) != SIZE_SEALS)
        return nsp_fail(-EINVAL,
                        "session memory is not sealed: its size could change while it is in use");
    if (fstat(fd, &st) || (uint64_t)st.st_size < bytes)
        return nsp_fail(-EINVAL, "session memory is malformed: inconsistent sizes");
    return 0;
}

int nsp_shm_open(int fd, struct nsp_shm_map *out)
{
    const int is_module = nsp_module_has(fd);
    struct nslice_session header;
    int err;

    if (!read_header(fd, is_module, &header) || header.magic != NSLICE_SESSION_MAGIC)
        return nsp_fail(-EBADF, "descriptor %d is not a netslice session", fd);
    if (header.version != NSLICE_SESSION_VERSION)
        return nsp_fail(-EPROTO,
                        "session memory has version %u, this library supports %u: use nsdump and "
                        "libnsprobe of the same release",
                        header.version, NSLICE_SESSION_VERSION);
    if (header.cpus == 0 || header.cpus > NSLICE_MAX_CPUS ||
        header.ring_bytes < NSLICE_MIN_RING_BYTES || header.ring_bytes > NSLICE_MAX_RING_BYTES ||
        (header.ring_bytes & (header.ring_bytes - 1)))
        return nsp_fail(-EINVAL, "session memory is malformed: inconsistent sizes");
    err = check_size(fd, is_module, NSLICE_SESSION_BYTES(header.cpus, header.ring_bytes));
    return err ? err : nsp_shm_map_fd(fd, header.cpus, header.ring_bytes, out);
}
