/* SPDX-License-Identifier: MIT */
/* Places in functions -> calls of stubs, written into the program's code. */
#define _GNU_SOURCE
#include "patch.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/functions/entry_bytes.h"
#include "stubs.h"

#define CALL 0xe8
#define JUMP 0xe9
#define LONGEST_NOP 9
_Static_assert(NSF_SLED_BYTES <= NSF_LONGEST_ENTRY, "an entry is the longest place");

static const uint8_t nops[LONGEST_NOP + 1][LONGEST_NOP] = {
    [1] = {0x90},
    [2] = {0x66, 0x90},
    [3] = {0x0f, 0x1f, 0x00},
    [4] = {0x0f, 0x1f, 0x40, 0x00},
    [5] = {0x0f, 0x1f, 0x44, 0x00, 0x00},
    [6] = {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
    [7] = {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
    [8] = {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
    [9] = {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
};

static void write_nops(uint8_t *at, uint32_t bytes)
{
    while (bytes > 0) {
        const uint32_t length = bytes < LONGEST_NOP ? bytes : LONGEST_NOP;

        memcpy(at, nops[length], length);
        at += length;
        bytes -= length;
    }
}

/*
 * A sled begins with a jump over the rest, or with `ret`, and at an even address: what is behind
 * its first two bytes is written first, since no thread executes it, and then these at once.  The
 * bytes of a patchable entry are executed one by one, so only threads that are not in them are
 * safe; there are no other threads yet, except those that libraries started when they were loaded.
 */
static void write_place(const struct nsf_place *place, const uint8_t *stub)
{
    uint8_t *const at = (uint8_t *)place->address;
    const int32_t displacement = (int32_t)(stub - (at + NSF_CALL_BYTES));
    uint8_t code[NSF_LONGEST_ENTRY];
    uint16_t first;

    code[0] = place->kind == NSF_EXIT_SLED ? JUMP : CALL;
    memcpy(code + 1, &displacement, sizeof(displacement));
    write_nops(code + NSF_CALL_BYTES, place->bytes - NSF_CALL_BYTES);
    memcpy(&first, code, sizeof(first));
    memcpy(at + sizeof(first), code + sizeof(first), place->bytes - sizeof(first));
    __atomic_store_n((uint16_t *)at, first, __ATOMIC_SEQ_CST);
}

static int by_address(const void *left, const void *right)
{
    const struct nsf_place *const one = left, *const other = right;

    return one->address < other->address ? -1 : one->address > other->address;
}

/*
 * Places of one page, which alone can be written meanwhile; it stays executable, since its other
 * functions may be running.  Returns the number of places done, 0: the page cannot be changed.
 */
static size_t patch_page(const struct nsf_place *places, size_t count, int protection,
                         const uint8_t *const *stub_of)
{
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t page = places[0].address & -page_bytes;
    uint64_t bytes = page_bytes;
    size_t done = 0;

    while (done < count && places[done].address - page < page_bytes)
        ++done;
    if (places[done - 1].address + places[done - 1].bytes > page + page_bytes)
        bytes += page_bytes;
    if (mprotect((void *)page, bytes, PROT_READ | PROT_WRITE | PROT_EXEC))
        return 0;
    for (size_t i = 0; i < done; ++i)
        write_place(&places[i],
                    stub_of[places[i].function * (size_t)NSF_PLACE_KINDS + places[i].kind]);
    return mprotect((void *)page, bytes, protection) ? 0 : done;
}

/* A stub for each function and kind of place that the object has. */
static const char *make_stubs(const struct nsf_found *found, const struct nsf_object *object,
                              const uint8_t **stub_of)
{
    const struct nsf_place *const places = found->places + object->first_place;
    struct nsf_stubs stubs = {.memory = NULL};

    if (nsf_stubs_open(&stubs, object, object->places))
        return "there is no free memory near its code";
    for (size_t i = 0; i < object->places; ++i) {
        const uint8_t **const stub =
            &stub_of[places[i].function * (size_t)NSF_PLACE_KINDS + places[i].kind];

        if (!*stub)
            *stub = nsf_stubs_add(&stubs, places[i].function, places[i].kind);
    }
    return nsf_stubs_close(&stubs) ? "memory near its code cannot be made executable" : NULL;
}

static const char *patch_object(const struct nsf_found *found, const struct nsf_object *object,
                                const uint8_t **stub_of)
{
    struct nsf_place *const places = found->places + object->first_place;
    const char *const error = make_stubs(found, object, stub_of);
    size_t done;

    if (error)
        return error;
    qsort(places, object->places, sizeof(*places), by_address);
    for (size_t i = 0; i < object->places; i += done) {
        done = patch_page(places + i, object->places - i, object->protection, stub_of);
        if (done == 0)
            return "its code cannot be made writable (a security policy may forbid it)";
    }
    return NULL;
}

const char *nsf_patch(struct nsf_found *found)
{
    static char text[512];
    const uint8_t **const stub_of =
        calloc(found->function_count * NSF_PLACE_KINDS + 1, sizeof(*stub_of));
    const char *error = stub_of ? NULL : "out of memory";

    for (size_t i = 0; i < found->object_count && !error; ++i) {
        error = patch_object(found, &found->objects[i], stub_of);
        if (error) {
            snprintf(text, sizeof(text), "%s: %s", found->objects[i].path, error);
            error = text;
        }
    }
    free(stub_of);
    /* Other threads must not execute instructions that they read ahead. */
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
    return error;
}
