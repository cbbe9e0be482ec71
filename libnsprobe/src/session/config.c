/* SPDX-License-Identifier: MIT */
/* Session configuration: struct_size -> fields known to both sides. */
#include "config.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "error.h"

#define FIRST_VERSION_BYTES 64 /* of the structure in release 0.1 */
_Static_assert(sizeof(struct nsp_session_config) >= FIRST_VERSION_BYTES,
               "fields are only added at the end");

int nsp_config_take(const struct nsp_session_config *given, struct nsp_session_config *out)
{
    if (!given || given->struct_size < FIRST_VERSION_BYTES)
        return nsp_fail(
            -EINVAL, "nsp_session_config: struct_size must be sizeof(struct nsp_session_config)");
    memset(out, 0, sizeof(*out));
    memcpy(out, given, given->struct_size < sizeof(*out) ? given->struct_size : sizeof(*out));
    for (size_t i = sizeof(*out); i < given->struct_size; ++i)
        if (((const char *)given)[i])
            return nsp_fail(-EINVAL, "nsp_session_config: a field is set that this version of "
                                     "libnsprobe does not support");
    out->struct_size = sizeof(*out);
    return 0;
}
