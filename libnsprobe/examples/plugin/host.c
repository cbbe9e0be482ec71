/* SPDX-License-Identifier: MIT */
/*
 * host: loads a shared object with probes, calls it, unloads it, and does this three times.
 *
 *	cc -std=c11 -O2 -o host host.c $(pkg-config --cflags --libs nsprobe) -ldl
 *	nsdump record -w plugin.nsl -- ./host ./decode.so
 *	nsdump stats plugin.nsl
 *
 * The trace has the slices of both objects, also after the shared object has been unloaded.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <nsprobe/probe.h>

enum { LOADS = 3, PACKETS = 1000, BYTES = 128 };

typedef uint32_t decode_call(const uint8_t *packet, size_t bytes);

static int use(const char *path, uint32_t *sum)
{
    static const uint8_t packet[BYTES] = {1, 2, 3};
    decode_call *decode;
    void *object, *symbol;

    NET_SLICE_START(load);
    object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    NET_SLICE_STOP(load);
    symbol = object ? dlsym(object, "decode") : NULL;
    if (!symbol) {
        fprintf(stderr, "host: %s\n", dlerror());
        return 1;
    }
    memcpy(&decode, &symbol, sizeof(decode)); /* ISO C has no cast from void * to a function */
    for (unsigned number = 0; number < PACKETS; ++number) {
        NET_SLICE_INIT(packet, number, 1, BYTES);
        *sum += decode(packet, BYTES);
        NET_SLICE_EXIT(packet);
    }
    return dlclose(object) != 0;
}

int main(int argc, char **argv)
{
    uint32_t sum = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: %s SHARED-OBJECT\n", argv[0]);
        return 2;
    }
    for (int load = 0; load < LOADS; ++load) {
        if (use(argv[1], &sum) != 0)
            return 1;
    }
    printf("decoded %d packets, sum %lu\n", LOADS * PACKETS, (unsigned long)sum);
    return 0;
}
