/* SPDX-License-Identifier: MIT */
/*
 * fuzz SECONDS PROCESSES [SEED]: every call of the device with random values, mappings and mapped
 * contents, by several concurrent processes that are killed from time to time.  Faults show in the
 * kernel's log and in the module's later behaviour.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "device.h"

#define FILES 12
#define MAPS 6
#define TOUCHED_BYTES \
    65536u /* limit per part of a mapping, so that memory suffices for all processes */

struct map {
    char *at;
    uint64_t bytes, ring_bytes;
    uint32_t cpus;
};

static unsigned seed;
static int files[FILES];
static struct nslice_session_request sessions[FILES];
static struct map maps[MAPS];

static uint32_t pick(uint32_t below)
{
    return (uint32_t)rand_r(&seed) % below;
}

/* Small, near a power of two, or anything. */
static uint64_t number(void)
{
    switch (pick(4)) {
    case 0: return pick(16);
    case 1: return (1ull << pick(64)) + pick(3) - 1;
    case 2: return -(uint64_t)pick(64);
    default: return (uint64_t)rand_r(&seed) << 33 ^ (uint64_t)rand_r(&seed) << 10 ^ pick(1024);
    }
}

static void open_one(uint32_t at)
{
    static const int flags[] = {O_RDWR, O_RDWR, O_RDWR, O_RDONLY, O_WRONLY};

    if (files[at] >= 0)
        close(files[at]);
    files[at] = open(NSLICE_DEVICE, flags[pick(5)] | O_NONBLOCK);
    sessions[at] = (struct nslice_session_request){0};
}

/* Valid about half of the time, because invalid requests get no further than the checks. */
static void request(uint32_t at)
{
    static const char groups[] = "net_rx,net_tx,napi,irq,softirq,sched,sock,none,,";
    static const char rules[] = "*irq*,!soft*,[a-z]*,kernel:?,n\\,,";
    struct nslice_session_request session = {
        .size = sizeof(session), .flags = pick(2), .ring_bytes = 4096ull << pick(10)};
    struct nslice_reader_request reader = {
        .size = sizeof(reader), .flags = pick(2), .session = pick(200)};
    struct nslice_kernel_request kernel = {.size = sizeof(kernel),
                                           .flags = pick(2),
                                           .full = pick(2),
                                           .ring_bytes = 4096ull << pick(6)};
    static char room[65536];
    struct nslice_list_request list = {
        .size = sizeof(list), .room = pick(100), .entries = (uint64_t)(uintptr_t)room};
    struct nslice_text_request text = {
        .size = sizeof(text), .room = pick(sizeof(room)), .text = (uint64_t)(uintptr_t)room};
    struct nslice_slices_request slices = {.size = sizeof(slices),
                                           .slices = (uint64_t)(uintptr_t)rules,
                                           .slices_bytes = pick(sizeof(rules))};
    void *const requests[] = {&session, &reader, &kernel, &list, &text, &slices};
    static const size_t sizes[] = {sizeof(session), sizeof(reader), sizeof(kernel),
                                   sizeof(list),    sizeof(text),   sizeof(slices)};
    static const unsigned long commands[] = {NSLICE_IOC_SESSION, NSLICE_IOC_READER,
                                             NSLICE_IOC_KERNEL,  NSLICE_IOC_LIST,
                                             NSLICE_IOC_GROUPS,  NSLICE_IOC_SLICES};
    const uint32_t which = pick(6);

    kernel.groups = (uint64_t)(uintptr_t)groups;
    kernel.groups_bytes = pick(sizeof(groups));
    kernel.slices = slices.slices;
    kernel.slices_bytes = pick(2) ? slices.slices_bytes : 0;
    if (pick(2)) { /* a random field, but no kernel ring that takes all memory */
        uint64_t value = number();

        memcpy((char *)requests[which] + pick((uint32_t)sizes[which] / 4) * 4, &value, 4);
        if (kernel.ring_bytes > 1 << 20)
            kernel.ring_bytes |= 1;
    }
    if (ioctl(files[at], commands[which], requests[which]) == 0 && which == 0)
        sessions[at] = session;
}

static void map_one(uint32_t at)
{
    struct map *map = &maps[pick(MAPS)];
    const struct nslice_session_request *session = &sessions[at];

    if (map->at)
        munmap(map->at, map->bytes);
    map->at = NULL;
    if (session->memory_bytes == 0 || pick(8) == 0) {
        const uint64_t bytes = number();
        char *mapped =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, files[at], (off_t)number());

        if (mapped != MAP_FAILED)
            munmap(mapped, bytes);
        return;
    }
    *map = (struct map){
        mmap(NULL, session->memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, files[at], 0),
        session->memory_bytes, session->ring_bytes, session->cpus};
    if (map->at == MAP_FAILED)
        map->at = NULL;
    else
        fill_session(map->at, session, pick(2));
}

static uint64_t near(uint64_t position, uint32_t units)
{
    return pick(4) ? position + NSLICE_POSITION_STEP(pick(8)) * pick(units) : number();
}

static void scribble_ring(const struct map *map)
{
    struct nslice_ring_meta *ring = ring_of(map->at, map->ring_bytes, pick(map->cpus));
    const uint32_t units = (uint32_t)(map->ring_bytes / NSLICE_WORD_BYTES);
    uint64_t *data = data_of(ring);

    for (uint32_t i = pick(32); i > 0; --i) { /* plausible records */
        const uint32_t unit = pick((units < TOUCHED_BYTES / 8 ? units : TOUCHED_BYTES / 8) - 8);

        data[unit] = number();
        data[unit + 1] = (uint64_t)pick(8) << 56 | (uint64_t)pick(7) << 48 | number() >> 16;
    }
    switch (pick(4)) {
    case 0: ring->head = near(ring->tail, units); break;
    case 1: ring->tail = near(ring->head, units); break;
    case 2: ring->lost[pick(8)] = number(); break;
    default: ((uint64_t *)ring)[pick(NSLICE_RING_META_BYTES / 8)] = number();
    }
}

static void scribble_announcements(const struct map *map)
{
    struct nslice_session *header = (void *)map->at;
    char *log = map->at + NSLICE_SESSION_HEADER_BYTES;
    struct nslice_announcement one = {
        .bytes = pick(512), .kind = (uint16_t)pick(12), .ready = (uint16_t)pick(2)};

    if (pick(8) == 0)
        one.bytes = (uint32_t)number();
    memcpy(log + pick(TOUCHED_BYTES / 8 - 1) * 8, &one, sizeof(one));
    header->announce_tail = pick(8) ? pick(TOUCHED_BYTES) & ~7u : number();
}

static void scribble(void)
{
    const struct map *map = &maps[pick(MAPS)];

    if (!map->at)
        return;
    if (pick(4))
        scribble_ring(map);
    else if (pick(4))
        scribble_announcements(map);
    else if (pick(4))
        ((uint64_t *)(void *)map->at)[pick(sizeof(struct nslice_session) / 8)] = number();
    else
        madvise(map->at + (uint64_t)pick(64) * 4096, 4096ull << pick(8), MADV_REMOVE);
}

static void take(uint32_t at)
{
    static char room[65536];
    struct pollfd polled = {.fd = files[at], .events = POLLIN};

    if (pick(2))
        poll(&polled, 1, (int)pick(3));
    if (read(files[at], pick(20) ? room : (char *)number(), pick(sizeof(room))) < 0 &&
        errno == EAGAIN)
        usleep(pick(2000));
}

static void hand_on(uint32_t at)
{
    const pid_t child = fork();

    if (child < 0)
        return;
    if (child == 0) {
        scribble();
        if (pick(2))
            ioctl(files[at], NSLICE_IOC_END);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void act(void)
{
    const uint32_t at = pick(FILES);

    switch (pick(16)) {
    case 0: open_one(at); break;
    case 1:
    case 2: request(at); break;
    case 3: map_one(at); break;
    case 4:
    case 5:
    case 6: take(at); break;
    case 7:
        if (pick(4) == 0)
            ioctl(files[at], pick(4) ? NSLICE_IOC_END : (unsigned long)number(), number());
        break;
    case 8:
        if (pick(40) == 0)
            hand_on(at);
        break;
    default: scribble();
    }
}

static pid_t begin(unsigned process_seed, time_t until)
{
    const pid_t child = fork();

    if (child != 0)
        return child;
    seed = process_seed;
    memset(files, -1, sizeof(files));
    for (uint32_t i = 0; i < FILES; ++i)
        open_one(i);
    while (time(NULL) < until)
        act();
    _exit(0);
}

int main(int argc, char **argv)
{
    const time_t until = time(NULL) + (argc > 1 ? atoi(argv[1]) : 20);
    const int processes = argc > 2 ? atoi(argv[2]) : 4;
    const unsigned first = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 0) : (unsigned)time(NULL);
    unsigned next = first, kills = 0;
    pid_t children[16] = {0};

    printf("fuzz: seed %u, %d processes\n", first, processes);
    fflush(stdout);
    seed = first;
    for (int i = 0; i < processes && i < 16; ++i)
        children[i] = begin(next++, until);
    while (time(NULL) < until) {
        const uint32_t victim = pick((uint32_t)processes);

        usleep(pick(400000));
        kill(children[victim], SIGKILL); /* or it has ended because of its own fault */
        waitpid(children[victim], NULL, 0);
        children[victim] = begin(next++, until);
        ++kills;
    }
    for (int i = 0; i < processes; ++i)
        waitpid(children[i], NULL, 0);
    printf("fuzz: over, %u processes killed\n", kills);
    return 0;
}
