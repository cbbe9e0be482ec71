/* SPDX-License-Identifier: MIT */
/* EXPIRED_FLOWS: its result. */
#ifndef MAPI_EXPIREDFLOWSHASH_H
#define MAPI_EXPIREDFLOWSHASH_H

#include <stdint.h>

/*
 * A result of EXPIRED_FLOWS: flows_stat, followed by `sent` times flow_data.  Names and order are those of MAPI 2; all numbers are of
 * what came since the read before.
 */
struct mapi_flow_address {
	uint8_t byte1, byte2, byte3, byte4; /* of IPv4, all in network byte order */
	uint8_t more[12];                   /* of IPv6 */
};

typedef struct flow_data {
	uint64_t timestamp; /* NTP: of the first packet */
	uint64_t packets_count;
	uint64_t bytes_count; /* of frames on the wire, without VLAN tags and MPLS labels */
	struct mapi_flow_address saddr, daddr;
	uint16_t sport, dport; /* 0: none */
	uint8_t ptcl;          /* IPPROTO_ */
	uint8_t ttl_pkt1;      /* of the first packet; or hop limit */
	uint8_t version;       /* 4 or 6 */
	uint8_t place_bytes;   /* bytes of the struct mapi_flow_place between this flow_data and the next: 8, or 0 without a key */
} flow_data;

/* Follows each flow_data if the key has VLAN_TAG or INGRESS. */
struct mapi_flow_place {
	uint16_t vlan;      /* of the outermost tag; 0: none, or the key has none */
	uint16_t interface; /* ifindex of the packets; 0: also where the key has none */
	uint32_t reserved;
};

typedef struct flows_stat {
	uint32_t sent;     /* flows that follow */
	uint32_t received; /* flows that have begun */
	uint32_t expired;  /* flows that have ended: sent, ignored, dropped or waiting for the next read */
	uint32_t ignored;  /* flows that had too few packets */
	uint32_t dropped;  /* flows that found no room */
	struct {
		uint32_t sent, received, expired, ignored, dropped; /* packets of these */
	} packets;
	uint32_t early; /* flows that ended before their time, since there were too many of them */
	uint32_t other; /* packets without an IP header, which are of no flow */
} flows_stat;

#endif /* MAPI_EXPIREDFLOWSHASH_H */
