/* SPDX-License-Identifier: MIT */
/* Places: modes of sites -> a jump or a no-op in the code of their probes. */
#ifndef NSP_PLACES_H
#define NSP_PLACES_H

#include <stdint.h>

#include <nsprobe/detail/site.h>

/*
 * A compiled program has a jump in the place of a probe.  The library writes a no-op over it while
 * the site is off, and the jump again when the site is switched on.  The mode of the site decides
 * all the same: a probe whose jump remains finds it there.
 *
 * Pages of code are writable only while they are being changed, and stay executable: threads may
 * execute a place meanwhile.  Its five bytes are in one aligned word of eight, which is replaced
 * at once, so they execute the one or the other instruction.  AMD guarantees this (AMD64
 * Architecture Programmer's Manual, volume 2, "Cross-Modifying Code").  Intel does not document
 * it; its processors are known to do so for bytes within an aligned word, which just-in-time
 * compilers such as HotSpot rely on as well.
 */

/* Places of one object, in one of its segments; others keep their jumps. */
struct nsp_places {
    const struct nsp_place *begin, *end;
    uintptr_t segment, segment_bytes; /* 0 bytes: its code is not changed */
    int protection;                   /* of the segment: PROT_* */
};

/* Looks for the segment.  Takes the dynamic loader's lock, so not under that of the sites. */
struct nsp_places nsp_places_of(const struct nsp_place *begin, const struct nsp_place *end);

/* The other functions: under the lock of the sites. */

/* Whether the places of this object were added. */
int nsp_places_has(const struct nsp_place *begin);

/* Adds the places of an object, once. */
void nsp_places_add(const struct nsp_places *range);
void nsp_places_remove(const struct nsp_place *begin);

/*
 * Writes the instruction that each place's site requires.  To be called after sites were switched.
 * Caches of instructions are coherent: a thread may still execute the older one if it has read it
 * ahead, but not longer than that.  Returns 0 or -errno: some sites that are on are not recorded,
 * since their code cannot be written, or code remains writable.
 */
int nsp_places_follow(void);

/* 0, or -errno with the reason in nsp_last_error(): places could not be switched on now. */
int nsp_places_check(void);

#endif /* NSP_PLACES_H */
