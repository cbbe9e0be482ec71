/* SPDX-License-Identifier: MIT */
/* Packet headers under the names that programs of MAPI 2 use.  Nothing else here needs them. */
#ifndef MAPI_PROTOCOLS_H
#define MAPI_PROTOCOLS_H

#include <net/ethernet.h>

#include "ip_addr.h"

/* hashsamp.h has some of these names with other numbers. */
#undef TCP_FIN
#undef TCP_SYN
#undef TCP_RST
#undef TCP_PSH
#undef TCP_ACK
#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_PSH 0x08
#define TCP_ACK 0x10
#define TCP_URG 0x20
#define TCP_ECE 0x40
#define TCP_CWR 0x80
#define TCP_FLAGS (TCP_FIN | TCP_SYN | TCP_RST | TCP_PSH | TCP_ACK | TCP_URG)

/* States of a connection. */
#define LISTEN 1
#define SYN_RCVD 2
#define SYN_SENT 3
#define ESTB 4
#define FIN_RCVD 5
#define FIN_SENT 6
#define CLOSED 7

typedef struct ether_header ether_header;

/* All numbers of more than a byte are in network byte order. */
typedef struct ip_header {
    unsigned char ver_ihl;
    unsigned char tos;
    unsigned short tlen;
    unsigned short id;
    unsigned short off;
    unsigned char ttl;
    unsigned char ptcl;
    unsigned short sum;
    ip_addr saddr;
    ip_addr daddr;
} ip_header;

/* Flags and offset of ip_header; used after -> or ., as in header->DF. */
#define DF off & 0x4000
#define MF off & 0x2000
#define FRAG_OFF off & 0x1fff

typedef struct tcp_header {
    unsigned short sport;
    unsigned short dport;
    unsigned int seq;
    unsigned int ack;
    unsigned char x2 : 4, off : 4;
    unsigned char flags;
    unsigned short win;
    unsigned short crc;
    unsigned short urp;
} tcp_header;

typedef struct udp_header {
    unsigned short sport;
    unsigned short dport;
    unsigned short length;
    unsigned short sum;
} udp_header;

#endif /* MAPI_PROTOCOLS_H */
