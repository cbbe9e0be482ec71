/* SPDX-License-Identifier: MIT */
/* START and STOP records of each thread in a short window -> names around names -> levels. */
#include "nesting.h"

#include <string.h>

#include <nslice/record.h>

/*
 * A name that was seen this often is inside another only if one of that many was: a few records are
 * not where the program made them, such as those of a thread that was preempted when its probe was
 * switched off.
 */
#define RARE 1000

/* NULL: more threads than a window follows. */
static struct nsp_open_slices *slices_of(struct nsp_window *window, uint32_t thread)
{
    for (uint32_t i = 0; i < window->count; ++i)
        if (window->threads[i].thread == thread)
            return &window->threads[i];
    if (window->count == NSP_MOST_THREADS)
        return NULL;
    window->threads[window->count] = (struct nsp_open_slices){.thread = thread};
    return &window->threads[window->count++];
}

static void begin(struct nsp_nesting *nesting, struct nsp_open_slices *open, uint8_t name,
                  int stays)
{
    ++nesting->seen[name];
    for (uint32_t i = 0; i < open->depth; ++i)
        open->slices[i].inside[name / 64] |= 1ull << name % 64;
    if (stays && open->depth < NSP_MOST_OPEN)
        open->slices[open->depth++] = (struct nsp_open_slice){.name = name};
    else
        open->deeper += (uint32_t)stays;
}

static int is_often(const struct nsp_nesting *nesting, uint32_t name, uint32_t outer)
{
    return (uint64_t)nesting->inside[name][outer] * RARE >= nesting->seen[name];
}

/* What began in a slice was inside it only if the slice has both its ends. */
static void note_inside(struct nsp_nesting *nesting, const struct nsp_open_slice *outer)
{
    for (uint32_t name = 0; name < NSP_THIN_NAMES; ++name) {
        uint64_t *const around = &nesting->around[name][outer->name / 64];
        const uint64_t bit = 1ull << outer->name % 64;

        if (!(outer->inside[name / 64] >> name % 64 & 1) || name == outer->name)
            continue;
        ++nesting->inside[name][outer->name];
        if (!(*around & bit) && is_often(nesting, name, outer->name)) {
            *around |= bit;
            nesting->has_changed = 1;
        }
    }
}

static void end(struct nsp_nesting *nesting, struct nsp_open_slices *open, uint8_t name)
{
    if (open->deeper > 0) {
        --open->deeper;
        return;
    }
    for (uint32_t i = open->depth; i > 0; --i)
        if (open->slices[i - 1].name == name) {
            note_inside(nesting, &open->slices[i - 1]);
            open->depth = i - 1;
            return;
        }
    /* Its START was before the window, so all that are open began in it and are over. */
    open->depth = 0;
}

void nsp_nesting_take(struct nsp_nesting *nesting, struct nsp_window *window, uint32_t kind,
                      uint8_t name, uint32_t thread)
{
    struct nsp_open_slices *open = slices_of(window, thread);

    if (!open)
        return;
    if (kind == NSLICE_KIND_START || kind == NSLICE_KIND_MARK)
        begin(nesting, open, name, kind == NSLICE_KIND_START);
    if (kind == NSLICE_KIND_STOP)
        end(nesting, open, name);
}

/* Recursion has no end of levels; it gets the greatest one. */
static void find_levels(struct nsp_nesting *nesting)
{
    memset(nesting->level, 0, sizeof(nesting->level));
    for (uint32_t round = 0; round < NSP_MOST_LEVELS; ++round)
        for (uint32_t name = 0; name < NSP_THIN_NAMES; ++name)
            for (uint32_t outer = 0; outer < NSP_THIN_NAMES; ++outer)
                if (nesting->around[name][outer / 64] >> outer % 64 & 1 &&
                    nesting->level[name] <= nesting->level[outer] &&
                    nesting->level[name] < NSP_MOST_LEVELS)
                    nesting->level[name] = (uint8_t)(nesting->level[outer] + 1);
    nesting->levels = nesting->inner_count = 0;
    for (uint32_t name = 0; name < NSP_THIN_NAMES; ++name)
        if (nesting->level[name] > 0) {
            nesting->inner[nesting->inner_count++] = (uint8_t)name;
            if (nesting->level[name] > nesting->levels)
                nesting->levels = nesting->level[name];
        }
}

/* Names that have turned out to be inside others by mistake. */
static void forget_rare(struct nsp_nesting *nesting)
{
    for (uint32_t name = 0; name < NSP_THIN_NAMES; ++name)
        for (uint32_t i = 0; i < NSP_THIN_NAMES / 64; ++i)
            for (uint64_t rest = nesting->around[name][i]; rest; rest &= rest - 1) {
                const uint32_t outer = i * 64 + (uint32_t)__builtin_ctzll(rest);

                if (is_often(nesting, name, outer))
                    continue;
                nesting->around[name][i] &= ~(rest & -rest);
                nesting->has_changed = 1;
            }
}

void nsp_nesting_settle(struct nsp_nesting *nesting)
{
    forget_rare(nesting);
    if (nesting->has_changed)
        find_levels(nesting);
    nesting->has_changed = 0;
}
