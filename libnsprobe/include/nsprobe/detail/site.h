/* SPDX-License-Identifier: MIT */
/* Sites: place in the source -> 32 bytes in section nsprobe_sites, registered on load.  Not API. */
#ifndef NSPROBE_DETAIL_SITE_H
#define NSPROBE_DETAIL_SITE_H

#include <stdint.h>

#include <nslice/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where probes put their sites: calibration has a section of its own, which no session changes. */
#ifndef NSP_DETAIL_SITE_SECTION
#define NSP_DETAIL_SITE_SECTION "nsprobe_sites"
#endif

struct nsp_site {
    const char *name;
    const char *file;
    uint32_t line;
    uint32_t
        head_bits; /* upper half of the record head's second word: slice_id, kind, count of words */
    uint32_t mode; /* NSP_DETAIL_MODE_*: that of the session, or OFF */
    uint16_t name_number; /* the rest is the library's */
    uint8_t is_selected;
    uint8_t way; /* NSLICE_WAY_*; 0: a macro */
};

/*
 * Where a site's probe is in the code: displacements from the members.  Only architectures whose
 * probes are switched by writing over their code have them.
 */
struct nsp_place {
    int32_t site;
    int32_t code; /* of the instruction that is replaced */
    int32_t on;   /* where its jump leads */
};

/* head_bits of a site before it has an id. */
#define NSP_DETAIL_HEAD_BITS(kind, count) \
    ((kind) << (NSLICE_HEAD_KIND_SHIFT - 32) | (count) << (NSLICE_HEAD_COUNT_SHIFT - 32))

/* A slice whose name is known only at run time: its two sites. */
struct nsp_slice {
    struct nsp_site start;
    struct nsp_site stop;
};

/*
 * Names a slice at run time; valid until the process ends.  NULL: out of memory.  Any thread, not a
 * signal handler.
 */
struct nsp_slice *nsp_slice_create(const char *name, const char *file, unsigned line);

void nsp_detail_register_sites(struct nsp_site *begin, struct nsp_site *end);
void nsp_detail_unregister_sites(struct nsp_site *begin, struct nsp_site *end);

/* The places of an object's sites, which are registered. */
void nsp_detail_register_places(const struct nsp_place *begin, const struct nsp_place *end);
void nsp_detail_unregister_places(const struct nsp_place *begin);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_DETAIL_SITE_H */
