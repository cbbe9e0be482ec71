// SPDX-License-Identifier: MIT
// ktime.bpf.c: an ICMP packet -> n folded checksums, and their time by bpf_ktime_get_ns().
//
// Each variant is a program of its own, chosen when this file is compiled: a choice at run time
// would itself read memory, which is cold at the first packet.
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>

#include "ktime_event.h"

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct ktime_event);
} events SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct ktime_pauses);
} pauses SEC(".maps");

enum {
    CLOCK = 1,       /* read at the begin and at the end */
    MAP = 2,         /* updated at the end */
    CLOCK_FIRST = 4, /* read before the event is initialised, not after it */
};

static __always_inline __u16 folded(__u32 sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    sum += sum >> 16;
    return ~sum;
}

/* The loop stays a loop: unrolled, the code of 16 checksums would be longer than that of one, and
 * its first run would read more memory. */
static __always_inline int sum(struct xdp_md *packet, int n)
{
    void *end = (void *)(long)packet->data_end;
    struct ethhdr *ethernet = (void *)(long)packet->data;
    struct iphdr *ip = (void *)(ethernet + 1);
    __be32 *icmp = (void *)(ip + 1);

    if ((void *)icmp + KTIME_SUMMED_BYTES > end || ethernet->h_proto != bpf_htons(ETH_P_IP) ||
        ip->protocol != IPPROTO_ICMP)
        return 0;
#pragma clang loop unroll(disable)
    for (int i = 0; i < n; ++i) {
        __u16 checksum = folded(bpf_csum_diff(0, 0, icmp, KTIME_SUMMED_BYTES, 0));
        asm volatile("" ::"r"(checksum)); /* the sum is used */
    }
    return 1;
}

/* The asm statements keep the compiler from moving the initialisation across the clock's reads, and
 * from leaving out an event that no map gets. */
static __always_inline int measure(struct xdp_md *packet, int parts, int n)
{
    struct ktime_event event;
    __u64 begin_ns = 0;
    __u32 key = 0;

    if (parts & CLOCK_FIRST)
        begin_ns = bpf_ktime_get_ns();
    if (parts & (CLOCK | MAP)) {
        __builtin_memset(&event, 0, sizeof(event));
        asm volatile("" : "+m"(event));
    }
    if ((parts & CLOCK) && !(parts & CLOCK_FIRST))
        begin_ns = bpf_ktime_get_ns();
    if (parts & (CLOCK | MAP)) {
        event.timestamp = begin_ns;
        event.bytes = 0;
        event.processing_time_ns = 0;
        asm volatile("" : "+m"(event));
    }
    if (n > 0 && !sum(packet, n))
        return XDP_PASS;
    if (parts & CLOCK)
        event.processing_time_ns = bpf_ktime_get_ns() - event.timestamp;
    if (parts & (CLOCK | MAP))
        asm volatile("" : "+m"(event));
    if (parts & MAP)
        bpf_map_update_elem(&events, &key, &event, BPF_ANY);
    return XDP_PASS;
}

#define PROGRAM(name, parts, n)                \
    SEC("xdp") int name(struct xdp_md *packet) \
    {                                          \
        return measure(packet, parts, n);      \
    }

#define PROGRAMS(name, parts)   \
    PROGRAM(name##_1, parts, 1) \
    PROGRAM(name##_2, parts, 2) \
    PROGRAM(name##_4, parts, 4) \
    PROGRAM(name##_8, parts, 8) \
    PROGRAM(name##_16, parts, 16)

PROGRAMS(full, CLOCK | MAP)
PROGRAMS(first, CLOCK | MAP | CLOCK_FIRST)
PROGRAMS(map, MAP)
PROGRAMS(clock, CLOCK)
PROGRAMS(none, 0)

/* Without any checksum, and without looking at the packet. */
PROGRAM(full_0, CLOCK | MAP, 0)
PROGRAM(first_0, CLOCK | MAP | CLOCK_FIRST, 0)
PROGRAM(map_0, MAP, 0)
PROGRAM(clock_0, CLOCK, 0)
PROGRAM(none_0, 0, 0)

static long read_clock(__u64 number, struct ktime_pauses *seen)
{
    __u64 now_ns = bpf_ktime_get_ns(), took_ns = now_ns - seen->previous_ns;

    if (number > 0) {
        seen->watched_ns += took_ns;
        if (took_ns > KTIME_PAUSE_NS) {
            seen->lost_ns += took_ns;
            seen->pauses++;
            if (took_ns > seen->longest_ns)
                seen->longest_ns = took_ns;
        }
    }
    seen->previous_ns = now_ns;
    return 0;
}

/* Run by BPF_PROG_TEST_RUN, which disables softirqs as for a packet: what interrupts, and the
 * hypervisor, take from a program. */
SEC("xdp") int pause(struct xdp_md *packet)
{
    struct ktime_pauses seen = {};
    __u32 key = 0;

    bpf_loop(KTIME_PAUSE_READS, read_clock, &seen, 0);
    bpf_map_update_elem(&pauses, &key, &seen, BPF_ANY);
    return XDP_PASS;
}

char program_license[] SEC("license") = "Dual MIT/GPL";
