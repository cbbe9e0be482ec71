/* SPDX-License-Identifier: MIT */
/*
 * The plug-in: a shared object with its own functions and drivers, named by `libs` in mapi.conf(5).
 */
#ifndef MAPI_PLUGIN_H
#define MAPI_PLUGIN_H

#include "driver.h"
#include "function.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MAPI_PLUGIN_ABI 1

struct mapi_plugin {
    uint32_t abi;         /* MAPI_PLUGIN_ABI */
    uint32_t struct_size; /* sizeof(struct mapi_plugin) */
    /* each list ends with NULL; a NULL list is empty */
    const struct mapi_function *const *functions;
    const struct mapi_driver *const *drivers;
};

/*
 * A plug-in defines this one symbol.  It is loaded once and stays loaded as long as the process
 * runs.
 */
extern const struct mapi_plugin mapi_plugin __attribute__((visibility("default")));

#ifdef __cplusplus
}
#endif

#endif /* MAPI_PLUGIN_H */
