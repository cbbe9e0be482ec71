/* SPDX-License-Identifier: MIT */
/* The batch: up to MAPI_BATCH_MAX packets that go from a driver to functions in one call. */
#ifndef MAPI_BATCH_H
#define MAPI_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MAPI_LINK_MIXED 0xffff   /* the batch holds packets of several link types */
#define MAPI_LINK_UNKNOWN 0xfffe /* unknown before the device's first packet */

struct mapi_prefiltered; /* driver.h */
struct mapi_offloaded;   /* driver.h */

/* Bit i of a mask stands for packets[i].  Valid only during the call that gets it. */
struct mapi_batch {
    const struct mapi_packet *packets;
    uint64_t all;        /* mask with one bit for each packet of the batch */
    uint64_t wire_bytes; /* sum of wire_len over the batch */
    uint32_t count;
    uint16_t link_type; /* of every packet, or MAPI_LINK_MIXED */
    const struct mapi_prefiltered
        *prefiltered; /* from driver to engine (driver.h), or NULL; functions ignore it */
    const struct mapi_offloaded *offloaded; /* likewise */
};

/* Fills in all members of a batch that follow from its packets, at most MAPI_BATCH_MAX. */
static inline void mapi_batch_fill(struct mapi_batch *batch, const struct mapi_packet *packets,
                                   uint32_t count)
{
    batch->packets = packets;
    batch->count = count;
    batch->all = count == 0 ? 0 : ~(uint64_t)0 >> (MAPI_BATCH_MAX - count);
    batch->wire_bytes = 0;
    batch->prefiltered = NULL;
    batch->offloaded = NULL;
    batch->link_type = count == 0 ? MAPI_LINK_UNKNOWN : packets[0].link_type;
    for (uint32_t i = 0; i < count; ++i) {
        batch->wire_bytes += packets[i].wire_len;
        if (packets[i].link_type != batch->link_type)
            batch->link_type = MAPI_LINK_MIXED;
    }
}

/* An instruction of a classic BPF program, like libpcap's struct bpf_insn. */
struct mapi_filter_code {
    uint16_t code;
    uint8_t jt;
    uint8_t jf;
    uint32_t k;
};

enum mapi_device_flags {
    /* the source waits for its readers: back-pressure loses no packets */
    MAPI_DEVICE_OFFLINE = 1u << 0,
    MAPI_DEVICE_PACKET_TYPES = 1u << 1, /* its packets have a packet_type, and filters of its driver
                                           may use the kernel's (SKF_AD_PKTTYPE) */
};

#ifdef __cplusplus
}
#endif

#endif /* MAPI_BATCH_H */
