/* SPDX-License-Identifier: MIT */
/* What libnsprobe and libnsprobe-functions, which patches functions, owe each other.  Not API. */
#ifndef NSPROBE_DETAIL_FUNCTIONS_H
#define NSPROBE_DETAIL_FUNCTIONS_H

#include <stdint.h>

#include <nsprobe/detail/site.h>

#include <nslice/file.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Loops of calls for calibration; `bare`: of functions that have neither sled nor patchable entry.
 */
enum nsp_way_loop {
    NSP_WAY_EMPTY, /* an empty function */
    NSP_WAY_EMPTY_BARE,
    NSP_WAY_WORK, /* work, then a function with the same work */
    NSP_WAY_WORK_BARE,
    NSP_WAY_PAIR,      /* START STOP, without a call */
    NSP_WAY_PAIR_BARE, /* START STOP, then the empty bare function */
    NSP_WAY_LOOPS,
};

#define NSP_WAYS 2 /* NSLICE_WAY_SLED - 1 and NSLICE_WAY_ENTRY - 1 */

struct nsp_detail_functions {
    struct nsp_slice *slice; /* of the loops, which write to calibration's rings */
    void (*loops[NSP_WAYS][NSP_WAY_LOOPS])(uint32_t rounds);
    /* Calls so far that have no slice, as lines of an INFO chunk; 0 bytes: none. */
    uint32_t (*skipped_text)(char *text, uint32_t room);
};

/* Defined by libnsprobe-functions. */
extern const struct nsp_detail_functions nsp_detail_functions
    __attribute__((weak, visibility("default")));

/* As nsp_slice_create(), of a function that is recorded by this way (NSLICE_WAY_*). */
struct nsp_slice *nsp_detail_function_slice(const char *name, const char *file, unsigned way);

/* Lines about the functions for the INFO of this session, if one is open, and of later ones. */
void nsp_detail_function_facts(const char *text);

/* Between these two, libnsprobe makes no code writable or unwritable. */
void nsp_detail_code_begin(void);
void nsp_detail_code_end(void);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_DETAIL_FUNCTIONS_H */
