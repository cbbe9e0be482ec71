/* SPDX-License-Identifier: MIT */
/*
 * hostile WHAT SECONDS: a process that corrupts its own session's memory to harm its reader.
 *
 *   announcements  64 MiB of announcements without content
 *   zeros          64 MiB of unfinished announcements
 *   endless        ends its session in order, closes it, and continues to write through the mapping
 *   tails          a flight recorder whose tail advances in small steps
 *   scribble       random words in settings and meta pages
 *   memory         rings of maximum size, touched until memory is exhausted
 */
#define _GNU_SOURCE
#include <time.h>

#include "device.h"

static struct nslice_session_request session;
static char *memory;
static int fd;
static time_t until;

static void open_rings(uint64_t ring_bytes, uint32_t full)
{
    fd = open_session(ring_bytes, NSLICE_SESSION_DRAINED, &session);
    memory = map_session(fd, session.memory_bytes);
    fill_session(memory, &session, full);
}

static int is_time_left(void)
{
    return time(NULL) < until;
}

static void wait_for_end(void)
{
    while (is_time_left())
        usleep(10000);
}

static void announcements(uint16_t kind, uint16_t ready)
{
    struct nslice_announcement *log = (void *)(memory + NSLICE_SESSION_HEADER_BYTES);

    for (uint64_t i = 0; i < NSLICE_SESSION_ANNOUNCE_BYTES / sizeof(*log); ++i)
        log[i] = (struct nslice_announcement){.kind = kind, .ready = ready};
    __atomic_store_n(&((struct nslice_session *)memory)->announce_tail,
                     NSLICE_SESSION_ANNOUNCE_BYTES, __ATOMIC_RELEASE);
    wait_for_end();
}

static void fill_with_marks(struct nslice_ring_meta *ring)
{
    uint64_t *data = data_of(ring);

    for (uint64_t i = 0; i < ring->data_bytes / NSLICE_WORD_BYTES; i += 2) {
        data[i] = i;
        data[i + 1] = (uint64_t)NSLICE_KIND_EXIT << 48;
    }
}

/* As fast as a reader takes them out. */
static void endless(void)
{
    struct nslice_ring_meta *ring = ring_of(memory, session.ring_bytes, 0);
    const uint64_t room = ring->data_bytes / NSLICE_WORD_BYTES;

    fill_with_marks(ring);
    must(ioctl(fd, NSLICE_IOC_END), "end");
    close(fd);
    while (is_time_left()) {
        const uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

        __atomic_store_n(&ring->head, tail + NSLICE_POSITION_STEP(2) * (room / 2),
                         __ATOMIC_RELEASE);
    }
}

static void tails(void)
{
    struct nslice_ring_meta *ring = ring_of(memory, session.ring_bytes, 0);
    const uint64_t room = ring->data_bytes / NSLICE_WORD_BYTES;
    uint64_t tail = 0;

    fill_with_marks(ring);
    must(ioctl(fd, NSLICE_IOC_END), "end");
    close(fd);
    __atomic_store_n(&ring->head, NSLICE_POSITION_STEP(2) * (room / 2), __ATOMIC_RELEASE);
    while (is_time_left()) {
        __atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
        tail += NSLICE_POSITION_STEP(2);
        for (volatile int i = 0; i < 200; ++i)
            ;
    }
}

static void scribble(void)
{
    unsigned seed = (unsigned)time(NULL);

    printf("seed %u\n", seed);
    while (is_time_left()) {
        const uint32_t cpu = (uint32_t)rand_r(&seed) % session.cpus;
        uint64_t *page = rand_r(&seed) % 4 ? (uint64_t *)ring_of(memory, session.ring_bytes, cpu)
                                           : (uint64_t *)memory;
        uint64_t *data = data_of(ring_of(memory, session.ring_bytes, cpu));

        page[rand_r(&seed) % 64] = (uint64_t)rand_r(&seed) << (rand_r(&seed) % 48);
        data[(uint64_t)rand_r(&seed) % (session.ring_bytes / 8)] =
            (uint64_t)rand_r(&seed) << 32 | (uint64_t)rand_r(&seed);
    }
}

static void use_up_memory(void)
{
    const uint64_t step = 1ull << 20;

    ring_of(memory, session.ring_bytes, 0)->head = NSLICE_POSITION_STEP(2);
    for (uint64_t at = NSLICE_SESSION_RINGS_OFFSET + 4096;
         at < session.memory_bytes && is_time_left(); at += step)
        memset(memory + at, 1,
               at + step <= session.memory_bytes ? step : session.memory_bytes - at);
}

int main(int argc, char **argv)
{
    const char *what = argc == 3 ? argv[1] : "";

    until = time(NULL) + (argc == 3 ? atoi(argv[2]) : 0);
    if (strcmp(what, "announcements") == 0) {
        open_rings(65536, NSLICE_FULL_DISCARD);
        announcements(NSLICE_CHUNK_INFO, 1);
    } else if (strcmp(what, "zeros") == 0) {
        open_rings(65536, NSLICE_FULL_DISCARD);
        announcements(0, 0);
    } else if (strcmp(what, "endless") == 0) {
        open_rings(1 << 20, NSLICE_FULL_DISCARD);
        endless();
    } else if (strcmp(what, "tails") == 0) {
        open_rings(64 << 20, NSLICE_FULL_OVERWRITE);
        tails();
    } else if (strcmp(what, "scribble") == 0) {
        open_rings(65536, NSLICE_FULL_DISCARD);
        scribble();
    } else if (strcmp(what, "memory") == 0) {
        open_rings(NSLICE_MAX_RING_BYTES, NSLICE_FULL_DISCARD);
        use_up_memory();
    } else {
        fprintf(stderr,
                "usage: hostile announcements|zeros|endless|tails|scribble|memory SECONDS\n");
        return 2;
    }
    return 0;
}
