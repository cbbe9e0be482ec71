/* SPDX-License-Identifier: MIT */
/* Stubs: code near an object that passes a function's number to a trampoline. */
#define _GNU_SOURCE
#include "stubs.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inside.h"

#define STUB_BYTES 16
#define REACH_BYTES (UINT64_C(1) << 30) /* half of what a displacement can be */
#define SEARCH_STEP (UINT64_C(64) << 10)

static void (*const targets[NSF_PLACE_KINDS])(void) = {
    [NSF_ENTRY_SLED] = nsf_entry_sled,
    [NSF_EXIT_SLED] = nsf_exit_sled,
    [NSF_TAIL_SLED] = nsf_tail_sled,
    [NSF_PATCHED_ENTRY] = nsf_patched_entry,
};

static void *map_at(uint64_t address, size_t bytes)
{
    void *const at = (void *)address;
    void *const got = mmap(at, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (got != MAP_FAILED && got != at) { /* a kernel before 4.17 */
        munmap(got, bytes);
        return MAP_FAILED;
    }
    return got;
}

/* Below the object first: above a program lies its heap, which grows. */
static void *map_near(const struct nsf_object *object, size_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t begin = object->begin & -page, end = (object->end + page - 1) & -page;

    for (uint64_t distance = bytes; distance < REACH_BYTES && distance < begin;
         distance += SEARCH_STEP) {
        void *const got = map_at(begin - distance, bytes);

        if (got != MAP_FAILED)
            return got;
    }
    for (uint64_t distance = 0; distance < REACH_BYTES; distance += SEARCH_STEP) {
        void *const got = map_at(end + distance, bytes);

        if (got != MAP_FAILED)
            return got;
    }
    return NULL;
}

int nsf_stubs_open(struct nsf_stubs *stubs, const struct nsf_object *object, size_t count)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t addresses[NSF_PLACE_KINDS];

    stubs->bytes = (sizeof(addresses) + count * STUB_BYTES + page - 1) & -page;
    stubs->memory =
        object->end - object->begin < REACH_BYTES ? map_near(object, stubs->bytes) : NULL;
    if (!stubs->memory)
        return -1;
    for (unsigned kind = 0; kind < NSF_PLACE_KINDS; ++kind)
        addresses[kind] = (uint64_t)targets[kind];
    memcpy(stubs->memory, addresses, sizeof(addresses));
    stubs->used = sizeof(addresses);
    return 0;
}

/* push $number; jmp *target: no register changes. */
const uint8_t *nsf_stubs_add(struct nsf_stubs *stubs, uint32_t number, uint32_t kind)
{
    uint8_t *const stub = stubs->memory + stubs->used;
    const uint8_t *const target = stubs->memory + kind * sizeof(uint64_t);
    const int32_t displacement = (int32_t)(target - (stub + 11));

    stub[0] = 0x68;
    memcpy(stub + 1, &number, sizeof(number));
    stub[5] = 0xff;
    stub[6] = 0x25;
    memcpy(stub + 7, &displacement, sizeof(displacement));
    stubs->used += STUB_BYTES;
    return stub;
}

int nsf_stubs_close(const struct nsf_stubs *stubs)
{
    return mprotect(stubs->memory, stubs->bytes, PROT_READ | PROT_EXEC);
}
