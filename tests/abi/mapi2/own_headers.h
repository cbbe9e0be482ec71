/* SPDX-License-Identifier: MIT */
/* What the headers of MAPI 2's functions define, rewritten: names, kinds of names and values are
   those of MAPI 2. */
#ifndef OWN_HEADERS_H
#define OWN_HEADERS_H

#include <netinet/in.h>
#include <sys/types.h>

/* topx.h */
#define TOPX_MAX_X 1000
#define TOPX_IP 1
#define TOPX_TCP 2
#define TOPX_UDP 3
#define SORT_BY_PACKETS 1
#define SORT_BY_BYTES 2
typedef enum {
    TOPX_IP_TOS = 1,
    TOPX_IP_TTL = 5,
    TOPX_IP_SRCIP = 8,
    TOPX_IP_DSTIP,
    TOPX_TCP_SRCPORT,
    TOPX_TCP_DSTPORT,
    TOPX_UDP_SRCPORT = 18
} topxDefs;
struct topx_result {
    unsigned int value;
    struct in6_addr addr6;
    sa_family_t family;
    unsigned int count;
    unsigned long long bytecount;
    unsigned int last_rst_secs;
};

/* pktinfo.h, binop.h, sample.h, res2file.h */
enum pktinfo { PKT_TS, PKT_SIZE };
enum binop { BINOP_ADD, BINOP_SUB };
#define PERIODIC 2
#define PROBABILISTIC 3
enum res2file_format { R2F_RAW, R2F_ULLSTR, R2F_ULLSEC, R2F_STATS };

/* stats.h, dist.h, burst.h, bucket.h, hashsamp.h */
typedef struct stats {
    unsigned long long count;
    long double sum, sum2;
    double max, min;
} stats_t;
typedef struct dist {
    unsigned long long min, max, intervals, data[1];
} dist_t;
typedef struct burst_category {
    unsigned long bytes, packets, bursts, gap_bytes, gaps;
} burst_category_t;
struct bucket_data {
    unsigned long long timestamp, data;
};
#define TCP_SYN 1
#define TCP_ACK 2
#define TCP_RST 4
#define TCP_FIN 8
#define TCP_PSH 16
struct sample {
    unsigned int source_ip, dest_ip, sourceport, destport, sequence, tcp_flags, protocol;
    unsigned long long timestamp;
};

/* protocols.h, expiredflowshash.h */
typedef struct ip_addr {
    unsigned char byte1, byte2, byte3, byte4;
} ip_addr;
typedef struct flow_data {
    unsigned long long timestamp, packets_count, bytes_count;
    ip_addr saddr, daddr;
    unsigned short sport, dport;
    unsigned char ptcl, ttl_pkt1;
} flow_data;
typedef struct flows_stat {
    unsigned int sent, received, expired, ignored, dropped;
    struct {
        unsigned int sent, received, expired, ignored, dropped;
    } packets;
} flows_stat;

/* mapi_errors.h */
#define PCAP_BPF_ERR 1025
#define MCOM_SOCKET_ERROR 5123
#define MAPI_FLOW_NOT_CONNECTED 6143
#define MAPI_INVALID_FLOW 6145
#define MFUNCT_INVALID_ARGUMENT_1 7001
#define MFUNCT_INVALID_ARGUMENT_6 7011

#endif /* OWN_HEADERS_H */
