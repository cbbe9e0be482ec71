/* SPDX-License-Identifier: MIT */
/*
 * A plug-in for tests: OWN_RESULT counts packets, and its own read_result() returns twice as many;
 * ABSENT_RESULT could have a result in place, but requests none.
 */
#include <stdlib.h>

#include <mapi/errors.h>
#include <mapi/plugin.h>

static int create(const struct mapi_function_setup *setup, void **instance)
{
    *instance = setup->allocate_result(setup, 2 * sizeof(uint64_t));
    return *instance ? 0 : MFUNCT_COULD_NOT_APPLY_FUNCT;
}

static uint64_t process(void *instance, const struct mapi_batch *batch, uint64_t mask)
{
    uint64_t *count = instance;

    (void)batch;
    mapi_result_set(count, mapi_result_get(count) + (uint64_t)__builtin_popcountll(mask));
    return mask;
}

static void destroy(void *instance)
{
    (void)instance;
}

static void read_result(void *instance, void *result)
{
    *(uint64_t *)result = 2 * mapi_result_get(instance);
}

static const struct mapi_function_result own_result_result = {
    .struct_size = sizeof(struct mapi_function_result),
    .read = read_result,
};

static const struct mapi_function own_result = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(struct mapi_function),
    .name = "OWN_RESULT",
    .description = "twice as many packets as came",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_RESULT_IN_PLACE,
    .create = create,
    .process = process,
    .destroy = destroy,
    .result = &own_result_result,
};

static int create_without(const struct mapi_function_setup *setup, void **instance)
{
    (void)setup;
    *instance = NULL;
    return 0;
}

static uint64_t pass_all(void *instance, const struct mapi_batch *batch, uint64_t mask)
{
    (void)instance;
    (void)batch;
    return mask;
}

static const struct mapi_function absent_result = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(struct mapi_function),
    .name = "ABSENT_RESULT",
    .description = "lets packets pass",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_RESULT_IN_PLACE,
    .create = create_without,
    .process = pass_all,
    .destroy = destroy,
};

static const struct mapi_function *const functions[] = {&own_result, &absent_result, NULL};

const struct mapi_plugin mapi_plugin = {
    .abi = MAPI_PLUGIN_ABI,
    .struct_size = sizeof(struct mapi_plugin),
    .functions = functions,
};
