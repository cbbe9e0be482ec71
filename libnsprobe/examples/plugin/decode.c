/* SPDX-License-Identifier: MIT */
/*
 * decode: a shared object with a probe of its own, for host.c.
 *
 *	cc -std=c11 -O2 -fPIC -shared -o decode.so decode.c $(pkg-config --cflags --libs nsprobe)
 *
 * Its probes are registered while dlopen() runs and unregistered by dlclose(); neither this file
 * nor the host has code for it.
 */
#include <stddef.h>
#include <stdint.h>

#include <nsprobe/probe.h>

uint32_t decode(const uint8_t *packet, size_t bytes);

uint32_t decode(const uint8_t *packet, size_t bytes)
{
    uint32_t value = 0;

    NET_SLICE_START(decode);
    for (size_t at = 0; at < bytes; ++at)
        value = value * 31 + packet[at];
    NET_SLICE_STOP(decode);
    return value;
}
