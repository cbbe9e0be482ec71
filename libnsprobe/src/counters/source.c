/* SPDX-License-Identifier: MIT */
/* Counter names and requested source -> counter source; an unavailable counter is an error. */
#define _GNU_SOURCE
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "counters.h"
#include "session/error.h"
#include "writer/thread_begin.h"

const struct nsp_counter_ops *nsp_active_source;

static const struct nsp_counter_ops *const by_number[] = {
    [NSP_SOURCE_RDPMC] = &nsp_source_rdpmc,
    [NSP_SOURCE_PERF_READ] = &nsp_source_perf_read,
    [NSP_SOURCE_STEP] = &nsp_source_step,
    [NSP_SOURCE_PAPI] = &nsp_source_papi,
};

static char reason[NSP_ERROR_BYTES];

static int split(char *text, const char **names, uint32_t *count)
{
    char *name;

    *count = 0;
    if (!*text)
        return 0;
    while ((name = strsep(&text, ","))) {
        if (!*name)
            return nsp_fail(-EINVAL,
                            "a counter's name is empty (separate names with single commas)");
        if (*count == NSLICE_MAX_COUNTERS)
            return nsp_fail(-EINVAL, "more than %d counters: a record has no room for more",
                            NSLICE_MAX_COUNTERS);
        for (uint32_t i = 0; i < *count; ++i)
            if (strcmp(names[i], name) == 0)
                return nsp_fail(-EINVAL, "counter \"%s\" is listed twice", name);
        names[(*count)++] = name;
    }
    return 0;
}

/*
 * The first source that accepts the names; if none does, the error of perf-read, which accepts
 * whatever rdpmc does.
 */
static int try_all(const char *const *names, uint32_t count)
{
    static const enum nsp_counter_source order[] = {NSP_SOURCE_RDPMC, NSP_SOURCE_PERF_READ,
                                                    NSP_SOURCE_STEP};
    char first_words[NSP_ERROR_BYTES] = "", reported[NSP_ERROR_BYTES] = "";
    int reported_error = 0;

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); ++i) {
        const int err = by_number[order[i]]->open(names, count);

        if (!err) {
            nsp_active_source = by_number[order[i]];
            snprintf(reason, sizeof(reason), "%s%.*s",
                     i ? "chosen because: " : "chosen as the best one", (int)sizeof(reason) - 32,
                     first_words);
            return 0;
        }
        if (i == 0)
            snprintf(first_words, sizeof(first_words), "%s", nsp_last_error());
        if (order[i] == NSP_SOURCE_PERF_READ) {
            reported_error = err;
            snprintf(reported, sizeof(reported), "%s", nsp_last_error());
        }
    }
    return nsp_fail(reported_error, "%s", reported);
}

int nsp_source_choose(const char *wish, enum nsp_counter_source source, uint32_t *count,
                      char *names, size_t room)
{
    const char *list[NSLICE_MAX_COUNTERS];
    char text[256];
    int err;

    nsp_active_source = NULL;
    reason[0] = 0;
    *count = 0;
    if (wish && strlen(wish) >= sizeof(text))
        return nsp_fail(-EINVAL, "counters: list longer than %zu characters", sizeof(text) - 1);
    snprintf(names, room, "%s", wish ? wish : "");
    snprintf(text, sizeof(text), "%s", names);
    err = split(text, list, count);
    if (err || *count == 0 || source == NSP_SOURCE_NONE) {
        if (!err && *count > 0)
            return nsp_fail(-EINVAL, "counters \"%s\" cannot be combined with source=none", names);
        return err;
    }
    if (source == NSP_SOURCE_AUTO)
        return try_all(list, *count);
    if ((unsigned)source >= sizeof(by_number) / sizeof(by_number[0]) || !by_number[source])
        return nsp_fail(-EINVAL, "unknown counter source %d", (int)source);
    err = by_number[source]->open(list, *count);
    if (err)
        return err;
    nsp_active_source = by_number[source];
    snprintf(reason, sizeof(reason), "asked for");
    return 0;
}

const char *nsp_source_reason(void)
{
    return reason;
}

void nsp_source_release(void)
{
    nsp_thread_release_counters();
}
