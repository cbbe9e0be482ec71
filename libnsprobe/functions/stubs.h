/* SPDX-License-Identifier: MIT */
/* Stubs: code near an object that passes a function's number to a trampoline. */
#ifndef NSF_STUBS_H
#define NSF_STUBS_H

#include <stddef.h>
#include <stdint.h>

#include "find.h"

/* Stubs of one object, which its code can call with a 32-bit displacement. */
struct nsf_stubs {
    uint8_t *memory;
    size_t bytes;
    size_t used;
};

/* Room for so many stubs within reach of the object.  Returns 0, or -1: there is no room. */
int nsf_stubs_open(struct nsf_stubs *stubs, const struct nsf_object *object, size_t count);
/* The stub for this kind of place in the function with the number. */
const uint8_t *nsf_stubs_add(struct nsf_stubs *stubs, uint32_t number, uint32_t kind);
/* From here on the stubs can be executed, and no longer written. */
int nsf_stubs_close(const struct nsf_stubs *stubs);

#endif /* NSF_STUBS_H */
