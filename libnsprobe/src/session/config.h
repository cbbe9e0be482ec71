/* SPDX-License-Identifier: MIT */
/* Session configuration of a program built against any version -> this version's. */
#ifndef NSP_CONFIG_H
#define NSP_CONFIG_H

#include <nsprobe/session.h>

/*
 * Fields unknown to the program become 0; fields unknown to this library must be 0.  Returns 0 or
 * -EINVAL.
 */
int nsp_config_take(const struct nsp_session_config *given, struct nsp_session_config *out);

#endif /* NSP_CONFIG_H */
