/* SPDX-License-Identifier: MIT */
/* Result of EXPIRED_FLOWS. */
#ifndef MAPI_EXPIREDFLOWSHASH_H
#define MAPI_EXPIREDFLOWSHASH_H

#include <stdint.h>

#include "ip_addr.h"

/*
 * A result of EXPIRED_FLOWS consists of flows_stat, `sent` times flow_data, and struct
 * mapi_flows_more, which mapi_flows_more_of() finds.  The first two have the layout that MAPI 2
 * published.  All numbers refer to the time since the previous read.
 */
typedef struct flow_data {
    unsigned long long timestamp; /* of the first packet, NTP */
    unsigned long long packets_count;
    unsigned long long bytes_count; /* of frames on the wire, without VLAN tags and MPLS labels */
    ip_addr saddr, daddr;  /* IPv4, in network byte order; zeros with IPv6, whose addresses are in
                              struct mapi_flow_more */
    uint16_t sport, dport; /* 0: none */
    uint8_t ptcl;          /* IPPROTO_ */
    uint8_t ttl_pkt1;      /* TTL or hop limit of the first packet */
    uint8_t version;       /* 4 or 6; this and the next are padding in MAPI 2 */
    uint8_t has_place;     /* 1: the key has VLAN_TAG or INGRESS */
} flow_data;

typedef struct flows_stat {
    unsigned int sent;     /* flows that follow */
    unsigned int received; /* flows that have begun */
    /* flows that have ended: sent, ignored, dropped, or waiting for the next read */
    unsigned int expired;
    unsigned int ignored; /* flows that had too few packets */
    unsigned int dropped; /* flows that found no room */
    struct {
        unsigned int sent, received, expired, ignored, dropped; /* packets of these flows */
    } packets;
} flows_stat;

/* Values of a flow that MAPI 2 does not report. */
struct mapi_flow_more {
    uint8_t source[16]; /* addresses in network byte order, using 4 or 16 bytes */
    uint8_t destination[16];
    uint16_t vlan;      /* of the outermost tag; 0: none, or the key does not have VLAN_TAG */
    uint16_t interface; /* ifindex of the packets; 0 if the key does not have INGRESS */
    uint32_t reserved;
};

/* Counts that MAPI 2 does not report, and the additional values of each flow. */
typedef struct mapi_flows_more {
    uint32_t early;                /* flows that ended early because there were too many */
    uint32_t other;                /* packets without an IP header, which belong to no flow */
    struct mapi_flow_more flow[1]; /* `sent` of them, in the order of the flow_data */
} mapi_flows_more_t;

/*
 * For a result of mapi_read_results(), which has at least 48 + 80 * sent bytes.  A result that
 * RES2FILE writes has only the counts.
 */
static inline const flow_data *mapi_flows_of(const flows_stat *result)
{
    const void *behind = result + 1;

    return (const flow_data *)behind;
}

static inline const mapi_flows_more_t *mapi_flows_more_of(const flows_stat *result)
{
    const void *behind = mapi_flows_of(result) + result->sent;

    return (const mapi_flows_more_t *)behind;
}

#endif /* MAPI_EXPIREDFLOWSHASH_H */
