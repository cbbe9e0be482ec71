/* SPDX-License-Identifier: MIT */
/*
 * An IPv4 address in network byte order, under the name of MAPI 2; for expiredflowshash.h and
 * protocols.h.
 */
#ifndef MAPI_IP_ADDR_H
#define MAPI_IP_ADDR_H

typedef struct ip_addr {
    unsigned char byte1, byte2, byte3, byte4;
} ip_addr;

#endif /* MAPI_IP_ADDR_H */
