/* SPDX-License-Identifier: MIT */
/* Machine, program and session -> INFO text of a trace. */
#ifndef NSP_ENVIRONMENT_H
#define NSP_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

struct nsp_environment {
    const char *clock_mode;
    double clock_hz;
    const char *ring_kind;
    uint64_t ring_bytes;
    const char *ring_full;
    const char *counter_source;
    const char *counter_reason;
    const char *counter_names;
    uint32_t step_every;
    const char *slices; /* rules: see selection.h */
    uint32_t thin_permille;
    const char *memory;
    const char *memory_reason;
    const char *pid_namespace; /* a whole line, or empty */
    const char *surroundings;  /* whole lines, or empty */
};

/* key=value lines, zero-terminated; returns the length. */
size_t nsp_environment_text(const struct nsp_environment *session, char *text, size_t room);

#endif /* NSP_ENVIRONMENT_H */
