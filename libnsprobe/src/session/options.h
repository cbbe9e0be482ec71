/* SPDX-License-Identifier: MIT */
/* Options as text -> session configuration. */
#ifndef NSP_OPTIONS_H
#define NSP_OPTIONS_H

#include <nsprobe/session.h>

struct nsp_options {
    struct nsp_session_config config;
    int attach; /* accept `nsdump record --pid` instead of opening a session */
    char output[512];
    char counters[256];
    char slices[1024];
};

void nsp_options_init(struct nsp_options *options);

/*
 * Adds the options in the text; later values win.  Returns 0, or -EINVAL with the rejected word in
 * nsp_last_error().
 */
int nsp_options_add(struct nsp_options *options, const char *text);

#endif /* NSP_OPTIONS_H */
