/* SPDX-License-Identifier: MIT */
/*
 * HASHSAMP's result under the names that programs of MAPI 2 use: the first 40 bytes of
 * mapi_sample_t.
 */
#ifndef MAPI_HASHSAMP_H
#define MAPI_HASHSAMP_H

#include "mapi.h"

/*
 * Bits of tcp_flags, which are not those of the TCP header.  protocols.h defines the same names
 * with the bits of the header: if both are included, the last one takes effect, as in MAPI 2.
 */
#undef TCP_SYN
#undef TCP_ACK
#undef TCP_RST
#undef TCP_FIN
#undef TCP_PSH
#define TCP_SYN 1
#define TCP_ACK 2
#define TCP_RST 4
#define TCP_FIN 8
#define TCP_PSH 16

struct sample {
    unsigned int source_ip; /* IPv4, in network byte order; 0 with IPv6 */
    unsigned int dest_ip;
    unsigned int sourceport;
    unsigned int destport;
    unsigned int sequence;
    unsigned int tcp_flags; /* the TCP_ bits above; 0 with UDP */
    unsigned int protocol;
    unsigned long long timestamp; /* NTP */
};

#endif /* MAPI_HASHSAMP_H */
