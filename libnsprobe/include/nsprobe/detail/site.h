/* SPDX-License-Identifier: MIT */
/* Sites: place in the source -> 24 bytes in section nsprobe_sites, registered on load.  Not API. */
#ifndef NSPROBE_DETAIL_SITE_H
#define NSPROBE_DETAIL_SITE_H

#include <stdint.h>

#include <nslice/record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nsp_site {
    const char *name;
    const char *file;
    uint32_t line;
    uint32_t head_bits; /* second half of the record head's second word: slice_id | kind << 16 | words << 24 */
};

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

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_DETAIL_SITE_H */
