/* SPDX-License-Identifier: MIT */
/* Sites: ELF sections of loaded objects, and slices named at run time -> ids and announcements. */
#define _GNU_SOURCE
#include "sites.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <nsprobe/detail/functions.h>
#include <nsprobe/detail/site.h>
#include <nsprobe/detail/state.h>
#include <nsprobe/file.h>

#include "known_sites.h"
#include "places.h"
#include "selection.h"
#include "session/announce.h"
#include "session/error.h"
#include "writer/counted_block.h"

/*
 * A linker takes only referenced objects from a static library.  Every program with sites refers to
 * this file, and through it to the code that opens the session of NETSLICE or `nsdump record`.
 */
static const char *const start_up __attribute__((used)) = &nsp_session_start_up;

struct site_range {
    struct nsp_site *begin, *end;
};

/* Of a name or file path in the trace; longer ones are truncated. */
#define MAX_TEXT_BYTES ((size_t)1024)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct site_range *ranges;
static size_t range_count;
static const struct nsp_shm_map *session;
static uint32_t mode = NSP_DETAIL_MODE_OFF;    /* of the sites that are on */
static char rules[NSLICE_SESSION_SLICES_TEXT]; /* which sites are on: see selection.h */

static uint16_t number_of_id[UINT16_MAX + 1]; /* the name's number: see known_sites.h */
static uint8_t is_off[NSP_THIN_NAMES + 1];
static uint32_t generation; /* of the set of sites and of the rules */

static void announce_site(const struct nsp_site *site, uint16_t id)
{
    uint64_t buffer[(sizeof(struct nslice_file_site) + 2 * MAX_TEXT_BYTES + 8) / 8] = {0};
    struct nslice_file_site head = {.slice_id = id,
                                    .kind = nsp_site_kind(site),
                                    .flags = (uint8_t)(site->way << NSLICE_WAY_SHIFT),
                                    .line = site->line};
    char *text = (char *)buffer + sizeof(head);
    size_t name_bytes = strnlen(site->name, MAX_TEXT_BYTES - 1);
    size_t file_bytes = strnlen(site->file, MAX_TEXT_BYTES - 1);

    head.pid = (uint32_t)getpid();
    head.name_bytes = (uint16_t)(name_bytes + 1);
    head.file_bytes = (uint16_t)(file_bytes + 1);
    memcpy(buffer, &head, sizeof(head));
    memcpy(text, site->name, name_bytes);
    memcpy(text + name_bytes + 1, site->file, file_bytes);
    nsp_announce(session, NSLICE_CHUNK_SITES, buffer,
                 (uint32_t)((sizeof(head) + name_bytes + file_bytes + 2 + 7) & ~7ul));
}

/* NULL: full or out of memory; counted. */
static const struct nsp_known_site *announce_new(const struct nsp_site *site)
{
    const uint32_t id = __atomic_fetch_add(&session->shm->next_slice_id, 1, __ATOMIC_RELAXED);
    const struct nsp_known_site *known =
        id <= UINT16_MAX ? nsp_known_add(site, (uint16_t)id) : NULL;

    if (!known) {
        __atomic_fetch_add(&session->shm->dropped_sites, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    __atomic_store_n(&number_of_id[id], known->name_number, __ATOMIC_RELAXED);
    announce_site(site, known->id);
    return known;
}

static void publish_site(struct nsp_site *site)
{
    const struct nsp_known_site *known = nsp_known_find(site);
    uint16_t id;

    if (!known)
        known = announce_new(site);
    id = known ? known->id : 0;
    site->name_number = known ? known->name_number : 0;
    /* A single store, since a probe may be reading it. */
    __atomic_store_n(&site->head_bits, (site->head_bits & 0xffff0000u) | id, __ATOMIC_RELEASE);
}

static void publish_range(const struct site_range *range)
{
    for (struct nsp_site *site = range->begin; site < range->end; ++site)
        publish_site(site);
}

/* Units are always recorded: figures per packet depend on them. */
static int is_selected(const struct nsp_site *site)
{
    return nsp_is_unit(nsp_site_kind(site)) || nsp_selection_has(rules, site->name);
}

static void switch_site(struct nsp_site *site)
{
    const int is_on =
        mode != NSP_DETAIL_MODE_OFF && site->is_selected && !is_off[site->name_number];

    __atomic_store_n(&site->mode,
                     is_on ? nsp_counted_mode(mode, nsp_site_kind(site)) : NSP_DETAIL_MODE_OFF,
                     __ATOMIC_RELEASE);
}

static void switch_range(const struct site_range *range)
{
    for (struct nsp_site *site = range->begin; site < range->end; ++site) {
        site->is_selected = (uint8_t)is_selected(site);
        switch_site(site);
    }
}

/* Returns 0 or -errno: some that are on are not recorded. */
static int switch_all(void)
{
    for (size_t i = 0; i < range_count; ++i)
        switch_range(&ranges[i]);
    return nsp_places_follow();
}

/* Not under the lock: a program that does not read its standard error would block fork(). */
static void report_code(int err)
{
    if (err)
        fprintf(stderr, "netslice: code of probes cannot be changed: %s (some are not recorded)\n",
                strerror(-err));
}

void nsp_sites_publish(const struct nsp_shm_map *map)
{
    pthread_mutex_lock(&lock);
    nsp_known_forget();
    memset(number_of_id, 0, sizeof(number_of_id));
    session = map;
    nsp_shm_copy_words(rules, map->shm->slices, sizeof(rules));
    for (size_t i = 0; i < range_count; ++i)
        publish_range(&ranges[i]);
    pthread_mutex_unlock(&lock);
}

int nsp_sites_check(void)
{
    int err;

    pthread_mutex_lock(&lock);
    err = nsp_places_check();
    pthread_mutex_unlock(&lock);
    return err;
}

void nsp_sites_switch(uint32_t new_mode)
{
    int err;

    pthread_mutex_lock(&lock);
    mode = new_mode;
    memset(is_off, 0, sizeof(is_off));
    err = switch_all();
    pthread_mutex_unlock(&lock);
    report_code(err);
}

int nsp_sites_name_of(uint16_t id)
{
    return (int)__atomic_load_n(&number_of_id[id], __ATOMIC_RELAXED) - 1;
}

size_t nsp_sites_thin(const uint8_t *off, uint16_t *ids, size_t room)
{
    size_t count = 0;
    int err;

    pthread_mutex_lock(&lock);
    memcpy(is_off + 1, off, NSP_THIN_NAMES);
    for (size_t i = 0; i < range_count; ++i)
        for (struct nsp_site *site = ranges[i].begin; site < ranges[i].end; ++site)
            switch_site(site);
    err = nsp_places_follow();
    for (size_t i = 0; i < nsp_known_count(); ++i) { /* in ascending order of their ids */
        const struct nsp_known_site *const known = nsp_known_at(i);

        if (!is_off[known->name_number] || !nsp_selection_has(rules, known->name))
            continue;
        if (count < room)
            ids[count] = known->id;
        ++count;
    }
    pthread_mutex_unlock(&lock);
    report_code(err);
    return err ? SIZE_MAX : count;
}

uint32_t nsp_sites_generation(void)
{
    return __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
}

int nsp_sites_select(const char *new_rules)
{
    int err = nsp_selection_check(new_rules), code_err;

    if (err)
        return err;
    pthread_mutex_lock(&lock);
    if (!session)
        err = nsp_fail(-ENOENT, "process %d is in no session", (int)getpid());
    else if (mode == NSP_DETAIL_MODE_STEP)
        err = nsp_fail(-ENOTSUP, "slices cannot be changed while instructions are stepped "
                                 "(source=step): a slice whose STOP is off would never end");
    else
        err = nsp_places_check();
    if (!err)
        strcpy(rules, new_rules);
    __atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
    code_err = switch_all();
    pthread_mutex_unlock(&lock);
    report_code(code_err);
    return err;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

void nsp_sites_copy_rules(char *to)
{
    pthread_mutex_lock(&lock);
    strcpy(to, rules);
    pthread_mutex_unlock(&lock);
}

void nsp_sites_take_kernel(const void *payload, uint32_t bytes)
{
    const char *at = payload, *const end = at + bytes;
    struct nslice_file_site site;

    pthread_mutex_lock(&lock);
    while ((size_t)(end - at) > sizeof(site)) {
        memcpy(&site, at, sizeof(site));
        at += sizeof(site);
        if (site.name_bytes == 0 ||
            (size_t)(end - at) < (size_t)site.name_bytes + site.file_bytes ||
            at[site.name_bytes - 1])
            break;
        if (!nsp_is_unit(site.kind))
            nsp_known_add_kernel(at);
        at += (site.name_bytes + site.file_bytes + 7) & ~7;
        if (at > end)
            break;
    }
    pthread_mutex_unlock(&lock);
}

static size_t room_for_names(void)
{
    return nsp_known_count() + nsp_known_kernel_count() + 1;
}

/* Names of slices and marks, sorted, each once. */
static size_t copy_names(const char **names)
{
    size_t count = 0, unique = 0;

    for (size_t i = 0; i < nsp_known_count(); ++i)
        if (!nsp_is_unit(nsp_known_at(i)->kind))
            names[count++] = nsp_known_at(i)->name;
    for (size_t i = 0; i < nsp_known_kernel_count(); ++i)
        names[count++] = nsp_known_kernel_at(i);
    qsort(names, count, sizeof(*names), by_text);
    for (size_t i = 0; i < count; ++i)
        if (unique == 0 || strcmp(names[unique - 1], names[i]) != 0)
            names[unique++] = names[i];
    return unique;
}

/* The lock is not held while lines are written: another thread's fork() would wait for them. */
void nsp_sites_report_unmatched(FILE *to)
{
    char copy[NSLICE_SESSION_SLICES_TEXT];
    const char **names;
    size_t count = 0;

    pthread_mutex_lock(&lock);
    strcpy(copy, rules);
    names = malloc(room_for_names() * sizeof(*names));
    if (names)
        count = copy_names(names);
    pthread_mutex_unlock(&lock);
    if (names)
        nsp_selection_report(to, "netslice: ", copy, names, count);
    free(names);
}

void nsp_sites_describe_unmatched(char *text, size_t bytes)
{
    FILE *to;
    const char **names;

    memset(text, 0, bytes);
    to = fmemopen(text, bytes - 1, "w"); /* memory only: the lock can be held */
    if (!to)
        return;
    pthread_mutex_lock(&lock);
    names = malloc(room_for_names() * sizeof(*names));
    if (names)
        nsp_selection_report(to, "", rules, names, copy_names(names));
    pthread_mutex_unlock(&lock);
    fclose(to);
    free(names);
}

void nsp_sites_withdraw(void)
{
    pthread_mutex_lock(&lock);
    session = NULL;
    pthread_mutex_unlock(&lock);
}

void nsp_sites_before_fork(void)
{
    pthread_mutex_lock(&lock);
}

void nsp_sites_after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

void nsp_sites_forget_session(void)
{
    session = NULL;
}

void nsp_detail_register_sites(struct nsp_site *begin, struct nsp_site *end)
{
    struct site_range *grown;
    size_t i = 0;

    pthread_mutex_lock(&lock);
    while (i < range_count && ranges[i].begin != begin)
        ++i;
    if (i == range_count) {
        grown = realloc(ranges, (range_count + 1) * sizeof(*ranges));
        if (grown) {
            ranges = grown;
            ranges[range_count++] = (struct site_range){begin, end};
            if (session)
                publish_range(&ranges[i]);
            switch_range(&ranges[i]);
            __atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
        }
    }
    pthread_mutex_unlock(&lock);
}

void nsp_detail_unregister_sites(struct nsp_site *begin, struct nsp_site *end)
{
    (void)end;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < range_count; ++i)
        if (ranges[i].begin == begin) {
            ranges[i] = ranges[--range_count];
            break;
        }
    pthread_mutex_unlock(&lock);
    /* A thread's rseq area may still refer to a sequence in the object being unloaded. */
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0);
}

void nsp_detail_register_places(const struct nsp_place *begin, const struct nsp_place *end)
{
    struct nsp_places range;
    int err, is_known;

    pthread_mutex_lock(&lock);
    is_known = nsp_places_has(begin);
    pthread_mutex_unlock(&lock);
    if (is_known)
        return; /* by another source file of the object */
    range = nsp_places_of(begin, end);
    pthread_mutex_lock(&lock);
    nsp_places_add(&range);
    err = nsp_places_follow();
    pthread_mutex_unlock(&lock);
    report_code(err);
}

void nsp_detail_unregister_places(const struct nsp_place *begin)
{
    pthread_mutex_lock(&lock);
    nsp_places_remove(begin);
    pthread_mutex_unlock(&lock);
}

void nsp_detail_code_begin(void)
{
    pthread_mutex_lock(&lock);
}

void nsp_detail_code_end(void)
{
    pthread_mutex_unlock(&lock);
}

static struct nsp_slice *create(const char *name, const char *file, unsigned line, uint8_t way)
{
    struct nsp_slice *slice = calloc(1, sizeof(*slice));

    if (!slice)
        return NULL;
    slice->start = (struct nsp_site){.name = strdup(name),
                                     .file = strdup(file),
                                     .line = line,
                                     .way = way,
                                     .head_bits = NSP_DETAIL_HEAD_BITS(NSLICE_KIND_START, 0)};
    slice->stop = slice->start;
    slice->stop.head_bits = NSP_DETAIL_HEAD_BITS(NSLICE_KIND_STOP, 0);
    if (!slice->start.name || !slice->start.file) {
        free((void *)slice->start.name);
        free((void *)slice->start.file);
        free(slice);
        return NULL;
    }
    nsp_detail_register_sites(&slice->start, &slice->stop + 1);
    return slice;
}

struct nsp_slice *nsp_slice_create(const char *name, const char *file, unsigned line)
{
    return create(name, file, line, 0);
}

struct nsp_slice *nsp_detail_function_slice(const char *name, const char *file, unsigned way)
{
    return create(name, file, 0, (uint8_t)way);
}
