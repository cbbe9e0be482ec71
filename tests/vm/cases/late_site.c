/* SPDX-License-Identifier: MIT */
/*
 * late_site: a session in whose log a site follows an announcement that is still being written
 * until 5 ms after the site's first record.
 */
#define _GNU_SOURCE
#include "device.h"

static struct nslice_announcement *announce(char *log, uint64_t *at, uint16_t kind,
                                            const void *payload, uint32_t bytes)
{
    struct nslice_announcement *one = (void *)(log + *at);

    *one = (struct nslice_announcement){.bytes = bytes, .kind = kind};
    memcpy(one + 1, payload, bytes);
    *at += NSLICE_ANNOUNCEMENT_BYTES(bytes);
    return one;
}

static void write_mark(struct nslice_ring_meta *ring, uint16_t id)
{
    uint64_t *data = data_of(ring);

    data[0] = 1;
    data[1] = 1ull << 56 | (uint64_t)NSLICE_KIND_MARK << 48 | (uint64_t)id << 32;
    data[2] = 7;
    __atomic_store_n(&ring->head, NSLICE_POSITION_STEP(3), __ATOMIC_RELEASE);
}

int main(void)
{
    const struct {
        struct nslice_file_site head;
        char text[16];
    } site = {{.slice_id = 1, .kind = NSLICE_KIND_MARK, .name_bytes = 5, .file_bytes = 7},
              "late\0late.c"};
    const struct nslice_file_calibration none = {.phase = NSLICE_CALIBRATION_START};
    struct nslice_session_request session;
    const int fd = open_session(65536, NSLICE_SESSION_DRAINED, &session);
    char *memory = map_session(fd, session.memory_bytes),
         *log = memory + NSLICE_SESSION_HEADER_BYTES;
    struct nslice_announcement *first, *second, *third;
    uint64_t at = 0;

    fill_session(memory, &session, NSLICE_FULL_DISCARD);
    usleep(300000); /* its reader has found it */
    first = announce(log, &at, NSLICE_CHUNK_INFO, "a=1\n\0\0\0", 8);
    second = announce(log, &at, NSLICE_CHUNK_SITES, &site, sizeof(site));
    __atomic_store_n(&second->ready, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&((struct nslice_session *)memory)->announce_tail, at, __ATOMIC_RELEASE);
    write_mark(ring_of(memory, session.ring_bytes, 0), site.head.slice_id);
    usleep(5000);
    __atomic_store_n(&first->ready, 1, __ATOMIC_RELEASE);
    usleep(300000); /* a pass before the end, which reads everything in order anyway */
    third = announce(log, &at, NSLICE_CHUNK_CALIBRATION, &none,
                     sizeof(none)); /* a trace without one is incomplete */
    __atomic_store_n(&third->ready, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&((struct nslice_session *)memory)->announce_tail, at, __ATOMIC_RELEASE);
    must(ioctl(fd, NSLICE_IOC_END), "end");
    return 0;
}
