/* SPDX-License-Identifier: MIT */
/* The sites that a session has announced: equal sites (e.g. of an inlined probe) are one. */
#ifndef NSP_KNOWN_SITES_H
#define NSP_KNOWN_SITES_H

#include <stddef.h>
#include <stdint.h>

#include <nsprobe/detail/site.h>

struct nsp_known_site {
    char *name, *file; /* copies, since the object may be unloaded */
    uint32_t line;
    uint8_t kind;
    uint16_t id;
    /* Of slices and marks with this name, from 1; 0: units, and names beyond NSP_THIN_NAMES. */
    uint16_t name_number;
};

/* All of these: under the lock of sites.c.  Pointers stay valid until nsp_known_forget(). */

/* NULL: not announced yet. */
const struct nsp_known_site *nsp_known_find(const struct nsp_site *site);
/* NULL: out of memory. */
const struct nsp_known_site *nsp_known_add(const struct nsp_site *site, uint16_t id);
size_t nsp_known_count(void);
/* In the order in which they were added. */
const struct nsp_known_site *nsp_known_at(size_t i);
/* Names of slices and marks of the kernel in the same session, each once. */
void nsp_known_add_kernel(const char *name);
size_t nsp_known_kernel_count(void);
const char *nsp_known_kernel_at(size_t i);
void nsp_known_forget(void);

uint8_t nsp_site_kind(const struct nsp_site *site);
int nsp_is_unit(uint8_t kind);

#endif /* NSP_KNOWN_SITES_H */
