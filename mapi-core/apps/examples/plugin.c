/* SPDX-License-Identifier: MIT */
/* A plug-in: the function EVERY_OTHER passes every other packet; the driver `zeros` generates as
 * many packets as its path says. */
#include <stdlib.h>

#include <mapi/errors.h>
#include <mapi/plugin.h>

static int every_other_create(const struct mapi_function_setup *setup, void **instance)
{
    (void)setup;
    *instance = calloc(1, sizeof(unsigned));
    return *instance ? 0 : MFUNCT_COULD_NOT_APPLY_FUNCT;
}

static uint64_t every_other_process(void *instance, const struct mapi_batch *batch, uint64_t mask)
{
    unsigned *seen = instance;
    uint64_t passed = 0;

    (void)batch;
    for (; mask; mask &= mask - 1)
        passed |= (*seen)++ & 1 ? mask & -mask : 0;
    return passed;
}

static const struct mapi_function every_other = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(struct mapi_function),
    .name = "EVERY_OTHER",
    .description = "passes every other packet",
    .create = every_other_create,
    .process = every_other_process,
    .destroy = free,
};

static int zeros_open(const struct mapi_driver_setup *setup, void **instance,
                      struct mapi_driver_info *info)
{
    uint64_t *left = malloc(sizeof(*left));

    if (!left)
        return MAPID_MEM_ALLOCATION_ERROR;
    *left = strtoull(setup->path, NULL, 10);
    *instance = left;
    *info = (struct mapi_driver_info){.device_flags = MAPI_DEVICE_OFFLINE, .link_type = 1};
    return 0;
}

static int zeros_read(void *instance, struct mapi_packet *packets, uint32_t limit,
                      struct mapi_batch *batch)
{
    static const uint8_t frame[60];
    uint64_t *left = instance;
    uint32_t count = *left < limit ? (uint32_t)*left : limit;

    for (uint32_t i = 0; i < count; ++i)
        packets[i] = (struct mapi_packet){
            .data = frame, .caplen = sizeof(frame), .wire_len = sizeof(frame), .link_type = 1};
    *left -= count;
    mapi_batch_fill(batch, packets, count);
    return (int)count;
}

static const struct mapi_driver zeros = {
    .abi = MAPI_DRIVER_ABI,
    .struct_size = sizeof(struct mapi_driver),
    .name = "zeros",
    .description = "makes packets of zeros",
    .open = zeros_open,
    .read = zeros_read,
    .close = free,
};

static const struct mapi_function *const functions[] = {&every_other, NULL};
static const struct mapi_driver *const drivers[] = {&zeros, NULL};

const struct mapi_plugin mapi_plugin = {
    .abi = MAPI_PLUGIN_ABI,
    .struct_size = sizeof(struct mapi_plugin),
    .functions = functions,
    .drivers = drivers,
};
