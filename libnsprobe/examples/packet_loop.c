/* SPDX-License-Identifier: MIT */
/*
 * packet_loop: 10,000 batches of 32 synthetic packets; two functions are measured in each batch.
 *
 *	cc -std=c11 -O2 -o packet_loop packet_loop.c $(pkg-config --cflags --libs nsprobe)
 *	nsdump record -w packet_loop.nsl -- ./packet_loop
 *	nsdump stats packet_loop.nsl
 *
 * There is no session code: `nsdump record` or NETSLICE=output=packet_loop.nsl in the environment
 * opens the session, and without them the probes are off.
 */
#include <stdint.h>
#include <stdio.h>

#include <nsprobe/probe.h>

enum { BATCHES = 10000, PACKETS = 32, BYTES = 256, PORT_OFFSET = 36 };

static uint8_t packets[PACKETS][BYTES];
static unsigned kept[PACKETS];

/* Stands for a driver: new packets, every fourth of them to port 53. */
static void receive(unsigned batch)
{
    for (unsigned i = 0; i < PACKETS; ++i) {
        packets[i][0] = (uint8_t)batch;
        packets[i][PORT_OFFSET + 1] = i % 4 == 0 ? 53 : 80;
    }
}

static unsigned filter(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < PACKETS; ++i) {
        if (packets[i][PORT_OFFSET] == 0 && packets[i][PORT_OFFSET + 1] == 53)
            kept[count++] = i;
    }
    return count;
}

static uint32_t checksum(unsigned count)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < count; ++i) {
        for (unsigned at = 0; at < BYTES; ++at)
            sum += packets[kept[i]][at];
    }
    return sum;
}

int main(void)
{
    unsigned long total = 0;
    uint32_t sum = 0;

    for (unsigned batch = 0; batch < BATCHES; ++batch) {
        receive(batch); /* outside of the unit: not part of a packet's cost here */
        NET_SLICE_INIT(batch, batch, PACKETS, PACKETS * BYTES);
        NET_SLICE_START(filter);
        const unsigned count = filter();
        NET_SLICE_STOP(filter);
        NET_SLICE_MARK(kept, count);
        NET_SLICE_START(checksum);
        sum += checksum(count);
        NET_SLICE_STOP(checksum);
        NET_SLICE_EXIT(batch);
        total += count;
    }
    printf("kept %lu of %d packets, sum %lu\n", total, BATCHES * PACKETS, (unsigned long)sum);
    return 0;
}
