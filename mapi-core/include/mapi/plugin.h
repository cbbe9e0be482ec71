/* SPDX-License-Identifier: MIT */
/* The plug-in: a shared object with functions and drivers of its own, which mapi.conf(5) names under libs. */
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
	const struct mapi_function *const *functions; /* each list ends with NULL; one that is NULL is empty */
	const struct mapi_driver *const *drivers;
};

/* A plug-in defines this one symbol.  It is loaded once and stays as long as the process. */
extern const struct mapi_plugin mapi_plugin __attribute__((visibility("default")));

#ifdef __cplusplus
}
#endif

#endif /* MAPI_PLUGIN_H */
