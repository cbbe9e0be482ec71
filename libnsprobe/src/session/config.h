/* SPDX-License-Identifier: MIT */
/* Session configuration of a program built against this or another version -> this version's. */
#ifndef NSP_CONFIG_H
#define NSP_CONFIG_H

#include <nsprobe/session.h>

/* Fields that the program did not know are 0; those that this library does not know must be.  0 or -EINVAL. */
int nsp_config_take(const struct nsp_session_config *given, struct nsp_session_config *out);

#endif /* NSP_CONFIG_H */
