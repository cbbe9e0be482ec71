/* SPDX-License-Identifier: MIT */
/* Announced sites by their place and name: trees, as programs may have tens of thousands. */
#define _GNU_SOURCE
#include "known_sites.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <nsprobe/file.h>

#include "sites.h"

static struct nsp_known_site **known;
static size_t known_count, known_room;
static void *by_site, *by_name; /* of tsearch(3) */
static uint16_t name_count;
static char **kernel_names;
static size_t kernel_count;

uint8_t nsp_site_kind(const struct nsp_site *site)
{
    return (uint8_t)(site->head_bits >> 16);
}

int nsp_is_unit(uint8_t kind)
{
    return kind == NSLICE_KIND_INIT || kind == NSLICE_KIND_EXIT;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct nsp_known_site *)a)->name,
                  ((const struct nsp_known_site *)b)->name);
}

static int compare_sites(const void *a, const void *b)
{
    const struct nsp_known_site *one = a, *other = b;
    int order;

    if (one->line != other->line)
        return one->line < other->line ? -1 : 1;
    if (one->kind != other->kind)
        return one->kind < other->kind ? -1 : 1;
    order = compare_names(one, other);
    return order ? order : strcmp(one->file, other->file);
}

/* The strings are those of the site. */
static struct nsp_known_site key_of(const struct nsp_site *site)
{
    return (struct nsp_known_site){.name = (char *)(uintptr_t)site->name,
                                   .file = (char *)(uintptr_t)site->file,
                                   .line = site->line,
                                   .kind = nsp_site_kind(site)};
}

const struct nsp_known_site *nsp_known_find(const struct nsp_site *site)
{
    const struct nsp_known_site key = key_of(site);
    struct nsp_known_site *const *found = tfind(&key, &by_site, compare_sites);

    return found ? *found : NULL;
}

static void free_site(struct nsp_known_site *site)
{
    if (!site)
        return;
    free(site->name);
    free(site->file);
    free(site);
}

static struct nsp_known_site *new_site(const struct nsp_site *site)
{
    struct nsp_known_site *made = calloc(1, sizeof(*made));

    if (!made)
        return NULL;
    *made = key_of(site);
    made->name = strdup(site->name);
    made->file = strdup(site->file);
    if (made->name && made->file)
        return made;
    free_site(made);
    return NULL;
}

static int has_room(void)
{
    const size_t room = known_room ? 2 * known_room : 64;
    struct nsp_known_site **grown;

    if (known_count < known_room)
        return 1;
    grown = realloc(known, room * sizeof(void *));
    if (!grown)
        return 0;
    known = grown;
    known_room = room;
    return 1;
}

/* Numbers the name if it is new.  Out of memory: it has no number. */
static uint16_t number_of(struct nsp_known_site *site)
{
    struct nsp_known_site *const *found;

    if (nsp_is_unit(site->kind))
        return 0;
    found = tsearch(site, &by_name, compare_names);
    if (!found)
        return 0;
    if (*found != site)
        return (*found)->name_number;
    return name_count < NSP_THIN_NAMES ? ++name_count : 0;
}

const struct nsp_known_site *nsp_known_add(const struct nsp_site *site, uint16_t id)
{
    struct nsp_known_site *made = has_room() ? new_site(site) : NULL;

    if (!made || !tsearch(made, &by_site, compare_sites)) {
        free_site(made);
        return NULL;
    }
    made->id = id;
    /* Functions are not thinned: their trampolines take time even while their sites are off. */
    made->name_number = site->way ? 0 : number_of(made);
    known[known_count++] = made;
    return made;
}

size_t nsp_known_count(void)
{
    return known_count;
}

const struct nsp_known_site *nsp_known_at(size_t i)
{
    return known[i];
}

void nsp_known_add_kernel(const char *name)
{
    char **grown, *copy;

    for (size_t i = 0; i < kernel_count; ++i)
        if (strcmp(kernel_names[i], name) == 0)
            return;
    grown = realloc(kernel_names, (kernel_count + 1) * sizeof(*grown));
    if (!grown)
        return;
    kernel_names = grown;
    copy = strdup(name);
    if (copy)
        kernel_names[kernel_count++] = copy;
}

size_t nsp_known_kernel_count(void)
{
    return kernel_count;
}

const char *nsp_known_kernel_at(size_t i)
{
    return kernel_names[i];
}

static void keep(void *site)
{
    (void)site;
}

void nsp_known_forget(void)
{
    tdestroy(by_site, keep);
    tdestroy(by_name, keep);
    by_site = by_name = NULL;
    for (size_t i = 0; i < known_count; ++i)
        free_site(known[i]);
    free(known);
    known = NULL;
    known_count = known_room = 0;
    name_count = 0;
    for (size_t i = 0; i < kernel_count; ++i)
        free(kernel_names[i]);
    free(kernel_names);
    kernel_names = NULL;
    kernel_count = 0;
}
