/* SPDX-License-Identifier: MIT */
/* A plug-in for tests: SLOW passes packets, and takes a given number of milliseconds for each
   batch. */
#include <stdlib.h>
#include <time.h>

#include <mapi/errors.h>
#include <mapi/plugin.h>

static int create(const struct mapi_function_setup *setup, void **instance)
{
    struct timespec *pause = malloc(sizeof(*pause));

    if (!pause)
        return MFUNCT_COULD_NOT_APPLY_FUNCT;
    pause->tv_sec = setup->arguments[0].number / 1000;
    pause->tv_nsec = setup->arguments[0].number % 1000 * 1000000;
    *instance = pause;
    return 0;
}

static uint64_t process(void *instance, const struct mapi_batch *batch, uint64_t mask)
{
    (void)batch;
    nanosleep(instance, NULL);
    return mask;
}

static const struct mapi_function slow = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(struct mapi_function),
    .name = "SLOW",
    .description = "lets packets pass, and takes its time",
    .flags = MAPI_FUNCTION_PASSES_ALL,
    .create = create,
    .process = process,
    .destroy = free,
    .arguments = {MAPI_ARGUMENT_INT},
};

static const struct mapi_function *const functions[] = {&slow, NULL};

const struct mapi_plugin mapi_plugin = {
    .abi = MAPI_PLUGIN_ABI,
    .struct_size = sizeof(struct mapi_plugin),
    .functions = functions,
};
