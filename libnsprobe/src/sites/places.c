/* SPDX-License-Identifier: MIT */
/* Places of loaded objects, and the code that is written there.  Only x86-64 has places. */
#define _GNU_SOURCE
#include "places.h"

#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nsprobe/detail/site.h>
#include <nsprobe/detail/state.h>

#include "session/error.h"

#ifdef NSPROBE_HAS_VALGRIND
#include <valgrind/valgrind.h>
#else
#define VALGRIND_DISCARD_TRANSLATIONS(address, bytes) ((void)0)
#endif

#define CODE_BYTES 5
#define JUMP 0xe9

static struct nsp_places *ranges;
static size_t range_count;

static const struct nsp_site *site_of(const struct nsp_place *place)
{
    return (const struct nsp_site *)((const char *)&place->site + place->site);
}

static uint8_t *code_of(const struct nsp_place *place)
{
    return (uint8_t *)((uintptr_t)&place->code + (uintptr_t)(intptr_t)place->code);
}

static int is_on(const struct nsp_place *place)
{
    return __atomic_load_n(&site_of(place)->mode, __ATOMIC_RELAXED) != NSP_DETAIL_MODE_OFF;
}

/* The instruction that a place has while its site is on or off. */
static void instruction(const struct nsp_place *place, int on, uint8_t code[CODE_BYTES])
{
    static const uint8_t no_op[CODE_BYTES] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    const uint8_t *const target = (const uint8_t *)&place->on + place->on;
    const int32_t displacement = (int32_t)(target - (code_of(place) + CODE_BYTES));

    memcpy(code, no_op, CODE_BYTES);
    if (!on)
        return;
    code[0] = JUMP;
    memcpy(code + 1, &displacement, sizeof(displacement));
}

/* The word that has a place, as it is and as it has to be. */
struct word {
    uint64_t *at;
    uint64_t before, after;
};

/*
 * Returns 0 if the place is as it has to be.  A debugger's breakpoint, for example, is neither
 * instruction, and is left alone.
 */
static int word_to_change(const struct nsp_place *place, struct word *word)
{
    const int on = is_on(place);
    uint8_t *const code = code_of(place);
    const uintptr_t offset = (uintptr_t)code % sizeof(uint64_t);
    uint8_t other[CODE_BYTES];

    if (offset > sizeof(uint64_t) - CODE_BYTES)
        return 0;
    word->at = (uint64_t *)(code - offset);
    word->before = word->after = __atomic_load_n(word->at, __ATOMIC_RELAXED);
    instruction(place, !on, other);
    if (memcmp((uint8_t *)&word->before + offset, other, CODE_BYTES) != 0)
        return 0;
    instruction(place, on, (uint8_t *)&word->after + offset);
    return 1;
}

/*
 * A debugger may change other bytes of the word meanwhile.  ThreadSanitizer cannot note that code
 * is written.
 */
static __attribute__((no_sanitize_thread)) void write_place(const struct nsp_place *place)
{
    struct word word;

    while (word_to_change(place, &word))
        if (__atomic_compare_exchange_n(word.at, &word.before, word.after, 0, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            return;
}

/* Places of one segment. */
struct span {
    uintptr_t first, bytes; /* pages of those that have to change; 0 bytes: none */
    int must_be_on;         /* one of them becomes a jump */
};

static struct span span_to_change(const struct nsp_places *range)
{
    const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t lowest = UINTPTR_MAX, highest = 0;
    struct span span = {0};
    struct word word;

    for (const struct nsp_place *place = range->begin; place < range->end; ++place) {
        const uintptr_t at = (uintptr_t)code_of(place);

        if (at - range->segment >= range->segment_bytes || !word_to_change(place, &word))
            continue;
        lowest = at < lowest ? at : lowest;
        highest = at > highest ? at : highest;
        span.must_be_on |= is_on(place);
    }
    if (lowest > highest)
        return span;
    span.first = lowest & -page_bytes;
    span.bytes = (highest & -page_bytes) + page_bytes - span.first;
    return span;
}

static int make_writable(const struct span *span)
{
    return mprotect((void *)span->first, span->bytes, PROT_READ | PROT_WRITE | PROT_EXEC) ? -errno
                                                                                          : 0;
}

static int make_unwritable(const struct nsp_places *range, const struct span *span)
{
    return mprotect((void *)span->first, span->bytes, range->protection) ? -errno : 0;
}

static int has_no_op(const struct nsp_places *range)
{
    for (const struct nsp_place *place = range->begin; place < range->end; ++place) {
        uint8_t off[CODE_BYTES];

        instruction(place, 0, off);
        if (memcmp(code_of(place), off, CODE_BYTES) == 0)
            return 1;
    }
    return 0;
}

static int follow_range(struct nsp_places *range)
{
    const struct span span = span_to_change(range);
    int err;

    if (span.bytes == 0)
        return 0;
    err = make_writable(&span);
    if (err && !has_no_op(range))
        range->segment_bytes = 0; /* security policies may log each attempt */
    if (err)                      /* jumps work whatever the mode is; no-ops do not */
        return span.must_be_on ? err : 0;
    for (const struct nsp_place *place = range->begin; place < range->end; ++place)
        if ((uintptr_t)code_of(place) - range->segment < range->segment_bytes)
            write_place(place);
    err = make_unwritable(range, &span);
    VALGRIND_DISCARD_TRANSLATIONS(span.first, span.bytes); /* its own code for these pages */
    return err;
}

int nsp_places_follow(void)
{
    int err = 0;

    for (size_t i = 0; i < range_count; ++i) {
        const int one = follow_range(&ranges[i]);

        err = err ? err : one;
    }
    return err;
}

int nsp_places_check(void)
{
    for (size_t i = 0; i < range_count; ++i) {
        const struct nsp_places *const range = &ranges[i];
        const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
        const struct span page = {(uintptr_t)code_of(range->begin) & -page_bytes, page_bytes, 0};
        int err;

        if (!has_no_op(range))
            continue;
        err = make_writable(&page);
        if (err)
            return nsp_fail(err,
                            "process %d: its probes cannot be switched on, since its code cannot "
                            "be written: %s (NETSLICE_KEEP_CODE=1 in its environment avoids this)",
                            (int)getpid(), strerror(-err));
        make_unwritable(range, &page);
    }
    return 0;
}

/* The executable segment that has the code of the first place. */
static int look_at_object(struct dl_phdr_info *info, size_t size, void *given)
{
    struct nsp_places *const range = given;
    const uintptr_t code = (uintptr_t)code_of(range->begin);

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *const header = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + header->p_vaddr;

        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) ||
            code - begin >= header->p_memsz)
            continue;
        range->segment = begin;
        range->segment_bytes = header->p_memsz;
        range->protection = PROT_EXEC | (header->p_flags & PF_R ? PROT_READ : 0) |
                            (header->p_flags & PF_W ? PROT_WRITE : 0);
        return 1;
    }
    return 0;
}

struct nsp_places nsp_places_of(const struct nsp_place *begin, const struct nsp_place *end)
{
    const char *const keeps = secure_getenv("NETSLICE_KEEP_CODE");
    struct nsp_places range = {.begin = begin, .end = end};

    if (begin < end && (!keeps || strcmp(keeps, "1") != 0))
        dl_iterate_phdr(look_at_object, &range);
    return range;
}

int nsp_places_has(const struct nsp_place *begin)
{
    for (size_t i = 0; i < range_count; ++i)
        if (ranges[i].begin == begin)
            return 1;
    return 0;
}

void nsp_places_add(const struct nsp_places *range)
{
    struct nsp_places *grown;

    if (range->segment_bytes == 0 || nsp_places_has(range->begin))
        return;
    grown = realloc(ranges, (range_count + 1) * sizeof(*ranges));
    if (!grown)
        return;
    ranges = grown;
    ranges[range_count++] = *range;
}

void nsp_places_remove(const struct nsp_place *begin)
{
    for (size_t i = 0; i < range_count; ++i)
        if (ranges[i].begin == begin) {
            ranges[i] = ranges[--range_count];
            break;
        }
}
