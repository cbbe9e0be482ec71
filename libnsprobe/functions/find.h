/* SPDX-License-Identifier: MIT */
/* Loaded objects + expression -> functions that can be patched, and where. */
#ifndef NSF_FIND_H
#define NSF_FIND_H

#include <regex.h>
#include <stddef.h>
#include <stdint.h>

#define NSF_MAX_FUNCTIONS 8000 /* two sites each; the table of a session has 65,535 */

#define NSF_SLED_BYTES 11

enum nsf_place_kind {
    NSF_ENTRY_SLED,    /* XRay: a jump over nine bytes */
    NSF_EXIT_SLED,     /* XRay: `ret` and ten bytes */
    NSF_TAIL_SLED,     /* XRay: as ENTRY_SLED, before a jump to another function */
    NSF_PATCHED_ENTRY, /* bytes that do nothing, at the begin of the function */
    NSF_PLACE_KINDS,
};

struct nsf_place {
    uint64_t address;
    uint32_t function; /* number in nsf_found.functions */
    uint32_t kind;     /* enum nsf_place_kind */
    uint32_t bytes;    /* that belong to it */
};

enum nsf_function_state {
    NSF_BY_SLED = 1,
    NSF_BY_ENTRY,
    NSF_TOO_SHORT, /* not recorded: the entry has no room for a call */
    NSF_CHANGED,   /* not recorded: something else has patched one of its sleds */
    NSF_FUNCTION_STATES,
};

struct nsf_function {
    char *name; /* of the slice */
    const char *object;
    uint64_t address;
    uint32_t state; /* enum nsf_function_state */
};

struct nsf_object {
    char *path;
    uint64_t begin, end; /* of its loaded segments */
    int protection;      /* of its code, PROT_* */
    size_t first_place, places;
};

struct nsf_found {
    struct nsf_function *functions;
    char **names; /* of the functions, in their order */
    size_t function_count;
    size_t in_state[NSF_FUNCTION_STATES]; /* numbers of functions */
    struct nsf_place *places;
    size_t place_count;
    struct nsf_object *objects; /* with places */
    size_t object_count;
    size_t seen[2];      /* functions with patchable entries, with sleds, that match or not */
    char example[3][64]; /* names of functions that do not match */
    int is_out_of_memory;
    int is_too_many; /* more than NSF_MAX_FUNCTIONS match */
};

void nsf_find(const regex_t *expression, struct nsf_found *found);

#endif /* NSF_FIND_H */
