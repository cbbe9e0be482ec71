/* SPDX-License-Identifier: MIT */
/* Options as text -> session configuration: key=value, separated by spaces or semicolons. */
#define _GNU_SOURCE
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

#define SEPARATORS " \t\n;"

struct choice {
    const char *word;
    int value;
};

static const struct choice clocks[] = {
    {"fast", NSP_CLOCK_FAST}, {"ordered", NSP_CLOCK_ORDERED}, {0}};
static const struct choice policies[] = {
    {"discard", NSLICE_FULL_DISCARD}, {"overwrite", NSLICE_FULL_OVERWRITE}, {0}};
static const struct choice ring_kinds[] = {
    {"rseq", NSLICE_RING_RSEQ}, {"atomic", NSLICE_RING_ATOMIC}, {0}};
static const struct choice memories[] = {
    {"auto", NSP_MEMORY_AUTO}, {"process", NSP_MEMORY_PROCESS}, {"nsmod", NSP_MEMORY_NSMOD}, {0}};
static const struct choice recorders[] = {
    {"process", NSP_DRAINED_BY_PROCESS}, {"nsmod", NSP_DRAINED_BY_NSMOD}, {0}};
static const struct choice yes_no[] = {{"yes", 1}, {"no", 0}, {0}};
static const struct choice sources[] = {{"auto", NSP_SOURCE_AUTO},
                                        {"rdpmc", NSP_SOURCE_RDPMC},
                                        {"perf-read", NSP_SOURCE_PERF_READ},
                                        {"papi", NSP_SOURCE_PAPI},
                                        {"step", NSP_SOURCE_STEP},
                                        {"none", NSP_SOURCE_NONE},
                                        {0}};

static int choose(const char *key, const char *value, const struct choice *choices, int *out)
{
    char known[128] = "";

    for (const struct choice *choice = choices; choice->word; ++choice) {
        if (strcmp(choice->word, value) == 0) {
            *out = choice->value;
            return 0;
        }
        strncat(known, choice == choices ? "" : ", ", sizeof(known) - strlen(known) - 1);
        strncat(known, choice->word, sizeof(known) - strlen(known) - 1);
    }
    return nsp_fail(-EINVAL, "option %s=%s: the value must be one of %s", key, value, known);
}

static int parse_bytes(const char *key, const char *value, uint64_t *out)
{
    char *end;
    unsigned long long number;
    int shift = 0;

    errno = 0;
    number = strtoull(value, &end, 10);
    switch (*end) {
    case 'G':
    case 'g': shift += 10; /* fall through */
    case 'M':
    case 'm': shift += 10; /* fall through */
    case 'K':
    case 'k':
        shift += 10;
        ++end;
        break;
    default: break;
    }
    if (end == value || *end || errno || *value == '-' || number << shift >> shift != number)
        return nsp_fail(-EINVAL, "option %s=%s: expected a number of bytes such as 4M", key, value);
    *out = number << shift;
    return 0;
}

static int parse_count(const char *key, const char *value, uint32_t *out)
{
    char *end;
    unsigned long long number;

    errno = 0;
    number = strtoull(value, &end, 10);
    if (end == value || *end || errno || *value == '-' || number > UINT32_MAX)
        return nsp_fail(-EINVAL, "option %s=%s: expected a number up to %u", key, value,
                        UINT32_MAX);
    *out = (uint32_t)number;
    return 0;
}

/* Not by strtod(), whose decimal point is that of the program's language. */
static int parse_share(const char *key, const char *value, uint32_t *out_permille)
{
    const char *digit = value;
    uint32_t permille = 0;

    if (strcmp(value, "off") == 0 || strcmp(value, "auto") == 0) {
        *out_permille = *value == 'o' ? 0 : NSP_THIN_AUTO_PERMILLE;
        return 0;
    }
    if (*digit == '0' || *digit == '1')
        permille = 1000 * (uint32_t)(*digit++ - '0');
    if (*digit == '.')
        for (uint32_t unit = 100; *++digit >= '0' && *digit <= '9'; unit /= 10)
            permille += unit * (uint32_t)(*digit - '0');
    if (digit == value || *digit || permille > 1000)
        return nsp_fail(-EINVAL, "option %s=%s: must be auto, off or a share from 0 to 1", key,
                        value);
    *out_permille = permille;
    return 0;
}

static int copy_text(const char *key, const char *value, char *to, size_t room)
{
    if (strlen(value) >= room)
        return nsp_fail(-EINVAL, "option %s: value longer than %zu characters", key, room - 1);
    strcpy(to, value);
    return 0;
}

static int add_one(struct nsp_options *options, const char *key, const char *value)
{
    struct nsp_session_config *config = &options->config;
    int word = 0, err;

    if (strcmp(key, "output") == 0 && !*value)
        return nsp_fail(-EINVAL, "option output=: the file name is missing");
    if (strcmp(key, "output") == 0)
        return copy_text(key, value, options->output, sizeof(options->output));
    if (strcmp(key, "counters") == 0)
        return copy_text(key, value, options->counters, sizeof(options->counters));
    if (strcmp(key, "slices") == 0)
        return copy_text(key, value, options->slices, sizeof(options->slices));
    if (strcmp(key, "ring") == 0)
        return parse_bytes(key, value, &config->ring_bytes);
    if (strcmp(key, "thin") == 0)
        return parse_share(key, value, &config->thin_permille);
    if (strcmp(key, "step-every") == 0)
        return parse_count(key, value, &config->step_every);
    if (strcmp(key, "source") == 0) {
        err = choose(key, value, sources, &word);
        config->source = (enum nsp_counter_source)word;
    } else if (strcmp(key, "clock") == 0) {
        err = choose(key, value, clocks, &word);
        config->clock = (enum nsp_clock_mode)word;
    } else if (strcmp(key, "full") == 0) {
        err = choose(key, value, policies, &word);
        config->full = (enum nslice_ring_full)word;
    } else if (strcmp(key, "kind") == 0) {
        err = choose(key, value, ring_kinds, &word);
        config->ring_kind = (uint32_t)word;
    } else if (strcmp(key, "memory") == 0) {
        err = choose(key, value, memories, &word);
        config->memory = (enum nsp_memory)word;
    } else if (strcmp(key, "recorder") == 0) {
        err = choose(key, value, recorders, &word);
        config->drained_by = (enum nsp_drained_by)word;
    } else if (strcmp(key, "calibration") == 0) {
        err = choose(key, value, yes_no, &word);
        config->no_calibration = !word;
    } else if (strcmp(key, "control") == 0) {
        err = choose(key, value, yes_no, &word);
        config->control = (uint32_t)word;
    } else if (strcmp(key, "attach") == 0) {
        err = choose(key, value, yes_no, &options->attach);
    } else {
        err = nsp_fail(
            -EINVAL,
            "unknown option \"%s\"; available: output, counters, source, clock, full, ring, kind, "
            "step-every, calibration, memory, recorder, slices, thin, control, attach",
            key);
    }
    return err;
}

void nsp_options_init(struct nsp_options *options)
{
    memset(options, 0, sizeof(*options));
    options->config.struct_size = sizeof(options->config);
    options->config.output = options->output;
    options->config.counters = options->counters;
    options->config.slices = options->slices;
}

int nsp_options_add(struct nsp_options *options, const char *text)
{
    char copy[2048], *rest, *word;
    int err = 0;

    if (!text)
        return 0;
    if (strlen(text) >= sizeof(copy))
        return nsp_fail(-EINVAL, "options longer than %zu characters", sizeof(copy) - 1);
    strcpy(copy, text);
    for (word = strtok_r(copy, SEPARATORS, &rest); word && !err;
         word = strtok_r(NULL, SEPARATORS, &rest)) {
        char *equals = strchr(word, '=');

        if (!equals)
            return nsp_fail(-EINVAL, "option \"%s\": expected key=value", word);
        *equals = 0;
        err = add_one(options, word, equals + 1);
    }
    return err;
}
