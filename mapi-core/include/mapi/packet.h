/* SPDX-License-Identifier: MIT */
/* The packet view: what a driver returns and every function reads. */
#ifndef MAPI_PACKET_H
#define MAPI_PACKET_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of packets per call: one bit of a 64-bit mask each. */
#define MAPI_BATCH_MAX 64

/*
 * A view, never an owner: `data` points into the driver's buffer and is valid until the batch ends.
 * Two views share a cache line; the layout is part of MAPI_FUNCTION_ABI and MAPI_DRIVER_ABI.
 * Pseudo headers whose byte order is that of the recording machine are converted to the byte order
 * of this machine.
 */
struct mapi_packet {
    const uint8_t *data;   /* first captured byte of the frame, not aligned */
    uint32_t caplen;       /* bytes that may be read at data */
    uint32_t wire_len;     /* bytes that the frame had on the wire */
    uint64_t timestamp_ns; /* since 1970-01-01 00:00 UTC */
    uint16_t link_type;    /* LINKTYPE_ number, as in capture files */
    uint16_t ifindex;      /* interface in the driver's own numbering, from 0 */
    /* sll_pkttype of packet(7) on a device with MAPI_DEVICE_PACKET_TYPES; otherwise zero */
    uint32_t packet_type;
};

/* The largest plausible packet of a link type, as in libpcap. */
static inline uint32_t mapi_caplen_max(uint32_t link_type)
{
    switch (link_type) {
    case 189: /* USB_LINUX */
    case 220: /* USB_LINUX_MMAPPED */
    case 231: /* DBUS */
    case 249: /* USBPCAP */ return 128u << 20;
    case 279: /* EBHSCR */ return 8u << 20;
    default: return 262144;
    }
}

#ifdef __cplusplus
}
static_assert(sizeof(mapi_packet) == 32, "two packet views in a cache line");
#else
_Static_assert(sizeof(struct mapi_packet) == 32, "two packet views in a cache line");
#endif

#endif /* MAPI_PACKET_H */
