/* SPDX-License-Identifier: MIT */
/* TOP: its arguments and its result. */
#ifndef MAPI_TOPX_H
#define MAPI_TOPX_H

#include <netinet/in.h>
#include <stdint.h>

/* Arguments of TOP, and the sort order of its rows.  Names and numbers are those of MAPI 2. */
enum {
    TOPX_IP = 1,
    TOPX_TCP = 2,
    TOPX_UDP = 3,
    TOPX_ICMP = 4
}; /* TOPX_ICMP has no fields: TOP refuses it, as in MAPI 2 */
typedef enum {
    TOPX_IP_TOS = 1,  /* IPv6: traffic class */
    TOPX_IP_LENGTH,   /* of the datagram, including the header */
    TOPX_IP_ID,       /* IPv6: of the fragment header */
    TOPX_IP_OFFSET,   /* of a fragment, in bytes */
    TOPX_IP_TTL,      /* IPv6: hop limit */
    TOPX_IP_PROTOCOL, /* after extension headers */
    TOPX_IP_CHECKSUM, /* IPv4 only */
    TOPX_IP_SRCIP,
    TOPX_IP_DSTIP,
    TOPX_TCP_SRCPORT,
    TOPX_TCP_DSTPORT,
    TOPX_TCP_SEQ,
    TOPX_TCP_ACK,
    TOPX_TCP_FLAGS, /* the low 12 bits of the word that contains them */
    TOPX_TCP_WIN,
    TOPX_TCP_CRC,
    TOPX_TCP_URGENT,
    TOPX_UDP_SRCPORT,
    TOPX_UDP_DSTPORT,
    TOPX_UDP_LENGTH,
    TOPX_UDP_CHECKSUM
} topxDefs;
enum { SORT_BY_PACKETS = 1, SORT_BY_BYTES = 2 };
#define TOPX_MAX_X 1000

/*
 * A row of TOP: a value of the field, and the packets that had it.  Members have the offsets of
 * MAPI 2 on 64-bit machines.
 */
struct topx_result {
    uint32_t value; /* a number; an IPv4 address in network byte order; 0 with an IPv6 address */
    struct in6_addr addr6; /* an IPv6 address, or zeros */
    sa_family_t family;    /* AF_INET or AF_INET6 for an address, otherwise 0 */
    uint16_t reserved;
    uint64_t count;
    unsigned long long bytecount; /* on the wire, of whole frames */
    /*
     * start of counting, in packets' time: seconds since 1970 (MAPI 2: microseconds modulo
     * 2^32)
     */
    uint32_t last_rst_secs;
    uint32_t reserved_too;
} __attribute__((packed, aligned(4)));

/*
 * The result of TOP.  MAPI 2 only specifies its layout: an unsigned int, immediately followed by
 * that many rows.
 */
typedef struct mapi_top {
    uint32_t rows;
    struct topx_result row[1]; /* as many as requested */
} mapi_top_t;

#endif /* MAPI_TOPX_H */
