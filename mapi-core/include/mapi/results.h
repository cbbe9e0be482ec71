/* SPDX-License-Identifier: MIT */
/*
 * Results: the structs that a client reads.  What MAPI 2 declares in the header of a single
 * function (topx.h, expiredflowshash.h, ...) is declared only there, so that programs of MAPI 2 can
 * use their own copy of that header.
 */
#ifndef MAPI_RESULTS_H
#define MAPI_RESULTS_H

#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MAPI_NAME_BYTES 256
#define MAPI_TEXT_BYTES 512

/* The published names of MAPI end in _t; they are kept because programs use them. */

/*
 * Returned by mapi_read_results().  The memory belongs to the flow: the next read of the same
 * function overwrites it, mapi_close_flow() frees it.
 */
typedef struct mapi_results {
    void *res;             /* the result: a uint64_t for the counters */
    unsigned long long ts; /* microseconds since 1970, when the result was read */
    int size;              /* bytes at res */
} mapi_results_t;

/* A packet from TO_BUFFER.  pkt is the first byte of the frame, 20 bytes after the start; more than
 * one byte follows. */
struct mapipkt {
    unsigned long long ts; /* NTP: seconds since 1900 << 32 | fraction; the seconds wrap in 2036,
                              packets after 2106 are not stored */
    uint16_t ifindex;      /* interface in the capture file or device */
    uint32_t caplen;       /* bytes at pkt */
    uint32_t wlen;         /* bytes that the frame had on the wire */
    uint8_t pkt;
};

/* Who sent a packet to whom: the innermost IP header and the transport header that follows it. */
typedef struct mapi_packet_ends {
    uint8_t source[16]; /* addresses in network byte order, using 4 or 16 bytes */
    uint8_t destination[16];
    uint16_t family; /* AF_INET or AF_INET6; 0: the packet has no IP header */
    uint16_t source_port;
    uint16_t destination_port;
    uint8_t protocol; /* IPPROTO_ of the transport header */
    uint8_t has_ports;
    uint8_t icmp_type; /* of ICMP and ICMPv6 */
    uint8_t icmp_code;
    uint8_t has_icmp;
    uint8_t reserved;
} mapi_packet_ends_t;

/* The result of STARTSTOP: NTP times as in struct mapipkt, 0 if there is no such packet yet. */
typedef struct mapi_startstop {
    uint64_t first;           /* packet that arrived */
    uint64_t first_processed; /* packet that passed */
    uint64_t last_processed;
} mapi_startstop_t;

/*
 * The result of STATS, over the sampled values.  It begins with MAPI 2's members; a double is exact
 * up to 2^53.
 */
typedef struct mapi_value_stats {
    uint64_t count;
    long double sum;
    long double sum2; /* of their squares */
    double max;
    double min;         /* 0 while count is 0 */
    uint64_t exact_max; /* the same as integers, without rounding */
    uint64_t exact_min;
} mapi_value_stats_t;

/*
 * The result of DIST: data[i] counts values from min + i * interval up to min + (i + 1) * interval,
 * i < intervals.  Two more follow: data[intervals] counts those from max on; data[intervals + 1]
 * counts those below min, which data[0] includes as well.
 */
typedef struct mapi_dist {
    uint64_t min;
    uint64_t max;
    uint64_t intervals;
    uint64_t data[1]; /* intervals + MAPI_DIST_BESIDE of them */
} mapi_dist_t;
#define MAPI_DIST_BESIDE 2

/* The result of BURST is an array of these: sizes below min, one per step, and everything above. */
typedef struct mapi_burst_category {
    uint64_t bytes; /* of bursts of this size */
    uint64_t packets;
    uint64_t bursts;
    uint64_t gap_bytes; /* that would have fitted into gaps of this size */
    uint64_t gaps;
} mapi_burst_category_t;

/* A result of BUCKET; each read returns the next one. */
typedef struct mapi_bucket {
    uint64_t timestamp; /* NTP: the interval's end, or the packet's time */
    uint64_t data;      /* the other function's result at that time, or its increase */
} mapi_bucket_t;

/* A result of THRESHOLD; each read returns the next one. */
typedef struct mapi_threshold {
    uint64_t timestamp; /* NTP: when the bound was passed, in packets' time */
    /* the compared value: the result, its difference, or its increase in the window */
    uint64_t value;
} mapi_threshold_t;

/*
 * A result of HASHSAMP that keeps samples; each read returns the next one.  Up to timestamp it is
 * MAPI 2's struct sample (hashsamp.h), which supports only IPv4 and has its own order of TCP flags.
 */
typedef struct mapi_sample {
    uint32_t ipv4_source; /* in network byte order; 0 with IPv6 */
    uint32_t ipv4_destination;
    uint32_t source_port;
    uint32_t destination_port;
    uint32_t sequence;    /* TCP's, otherwise 0 */
    uint32_t mapi2_flags; /* TCP's: 1 SYN, 2 ACK, 4 RST, 8 FIN, 16 PSH */
    uint32_t protocol;    /* IPPROTO_TCP or IPPROTO_UDP */
    uint32_t reserved;
    uint64_t timestamp; /* NTP */
    uint8_t source[16]; /* addresses in network byte order, using 4 or 16 bytes */
    uint8_t destination[16];
    uint16_t family;   /* AF_INET or AF_INET6 */
    uint8_t tcp_flags; /* as in the header: 1 FIN, 2 SYN, 4 RST, 8 PSH, 16 ACK ... */
    uint8_t reserved_too[5];
} mapi_sample_t;

/* A result of PKTSELECT that keeps results; each read returns the next one. */
typedef struct mapi_selected {
    uint64_t timestamp; /* NTP */
    uint64_t digest;    /* XXH3 of the packet's bytes that do not change on the way */
    uint32_t hash;      /* BOB hash of the same bytes, by which the packet was selected */
    uint32_t wire_len;  /* bytes that the frame had on the wire */
    uint8_t source[16]; /* addresses in network byte order, using 4 or 16 bytes */
    uint8_t destination[16];
    uint16_t source_port; /* 0 if the packet has no ports */
    uint16_t destination_port;
    uint16_t family; /* AF_INET or AF_INET6 */
    uint8_t protocol;
    uint8_t hop_limit; /* TTL of IPv4; routers on the way reduce it */
} mapi_selected_t;

/*
 * The result of PERF_STOP: cost of the functions since PERF_START, net of the cost of measuring.
 * Ticks are of the processor's clock (TSC, CNTVCT) and include work of the kernel in between;
 * instructions and cycles are of user space.
 */
typedef struct mapi_perf {
    uint64_t packets; /* packets that reached PERF_START */
    uint64_t calls;   /* how often a function ran, for up to 64 packets each time */
    uint64_t ticks;
    /* half width of the interval: uncertainty of the cost of measuring */
    uint64_t ticks_ci95;
    uint64_t ticks_per_second; /* 0: not known yet */
    /* calls that instructions and cycles refer to; 0: the machine does not allow counting */
    uint64_t counted_calls;
    uint64_t instructions;
    uint64_t cycles;
    uint64_t cycles_ci95;
    char source[16]; /* of instructions and cycles: "rdpmc", "perf-read", "none" */
} mapi_perf_t;

/* The result of INJECT: number of packets by outcome. */
typedef struct mapi_inject {
    uint64_t sent;
    uint64_t no_room;       /* the interface's queue, or the socket, was full */
    uint64_t cut;           /* the capture cuts them */
    uint64_t other_links;   /* not Ethernet */
    uint64_t refused;       /* the kernel refused them, for the reason below */
    uint64_t refused_errno; /* of the last one */
} mapi_inject_t;

/* The result of TRACK, and of the TRACK_ functions that use nDPI. */
typedef struct mapi_track {
    uint64_t flows;   /* flows that began */
    uint64_t matched; /* of these, those of the protocol */
    uint64_t unknown; /* of these, those that nDPI could not identify */
    /* flows evicted for lack of room while packets of them may still have arrived */
    uint64_t forgotten;
    /*
     * packets without an IP header, later fragments, or cut by the capture before their flow
     * was identified
     */
    uint64_t not_judged;
} mapi_track_t;

/*
 * A result of FLOW_REPORT with "SHMEM"; each read returns the next one.  Members as in MAPI 2's
 * ifp_dgram_t.
 */
typedef struct mapi_flow_report {
    uint64_t recno; /* from 0 on */
    uint32_t size;
    uint8_t bytes[2000]; /* a message of NetFlow or IPFIX, `size` bytes */
} mapi_flow_report_t;

typedef void (*mapi_handler)(const struct mapipkt *);

/*
 * ANONYMIZE and ANONYMIZEIP: outcome per field.  Whatever could not be changed as the rule requires
 * has been filled with zeros.
 */
typedef struct mapi_anonymize {
    uint64_t packets;
    uint64_t fields;     /* changed as the rules require */
    uint64_t absent;     /* packets without the field of a rule, rule by rule */
    uint64_t cut_fields; /* zeros: the capture cuts the field */
    /* zeros from a header on that is cut, malformed or unknown, rule by rule */
    uint64_t lost_packets;
    uint64_t given_up; /* zeros: a search took too long, or memory or libcrypto failed */
    /* values truncated to the field's length because the packet could not become longer */
    uint64_t no_room;
    /* zeros: some bytes were not captured, or the final destination is unknown */
    uint64_t unknown_checksums;
    /* values for which the tables had no room, for all rules of the program */
    uint64_t not_kept;
} mapi_anonymize_t;

/*
 * COOKING: accounting of TCP's payload.  bytes - cooked_bytes - other_bytes - repeated_bytes wait
 * for more.
 */
typedef struct mapi_cooking {
    uint64_t passed_packets; /* not TCP, or with incomplete headers: passed unchanged */
    uint64_t packets;        /* TCP packets assigned to streams */
    uint64_t bytes;          /* of their payload */
    uint64_t streams;
    uint64_t early_ends;     /* streams that ended early because there was no room for more */
    uint64_t cooked_packets; /* packets created */
    uint64_t cooked_bytes;   /* of their payload */
    /*
     * of a side that was not requested, or whose `once` packet was delivered; includes
     * ignored_bytes
     */
    uint64_t other_bytes;
    /* repeated, or from before a stream's first packet; includes early_bytes */
    uint64_t repeated_bytes;
    uint64_t holes;          /* places where bytes are missing from all packets */
    uint64_t missing_bytes;  /* in holes of less than 16 MiB */
    uint64_t cut_bytes;      /* of packets that were captured only in part */
    uint64_t fragments;      /* of IP, with TCP in them */
    uint64_t lost_fragments; /* of datagrams that are incomplete or malformed */
    uint64_t lost_packets;   /* out of memory */
    /*
     * packets that their receiver ignores (RFC 9293, RFC 5961): outside its window, after the
     * end, unacceptable SYN and RST
     */
    uint64_t ignored_packets;
    uint64_t ignored_bytes; /* of their payload */
    uint64_t early_bytes;   /* before a stream's first bytes: the receiver had acknowledged them, or
                               they do not reach up to these */
} mapi_cooking_t;

/* The result of UNCOOK. */
typedef struct mapi_uncook {
    uint64_t passed_packets; /* passed unchanged */
    uint64_t cooked_packets; /* divided into segments */
    uint64_t segments;       /* created from them */
    uint64_t lost_packets;   /* out of memory, or the segments of a batch exceed 17 MiB */
} mapi_uncook_t;

/* The result of CONNECTION; the same for all flows of a program on one device. */
typedef struct mapi_connections {
    uint64_t packets;     /* that belong to a connection */
    uint64_t untracked;   /* IP packets that do not: later fragments, incomplete headers, no room */
    uint64_t connections; /* begun */
    uint64_t evicted;     /* for lack of room before they were over, or not begun for it */
    uint64_t wrong_checksums; /* TCP packets that would have changed a state */
} mapi_connections_t;

/* The result of RATE_FILTER. */
typedef struct mapi_rate_filter {
    uint64_t addresses; /* that are counted now */
    uint64_t evicted;   /* for lack of room */
} mapi_rate_filter_t;

enum mapi_flow_status { FLOW_INIT, FLOW_ACTIVE, FLOW_FINISHED, FLOW_CLOSED };

typedef struct mapi_flow_info {
    unsigned uid; /* owner of the flow */
    int fd;
    int devid;
    char device[MAPI_NAME_BYTES];
    int num_functions;
    time_t start; /* seconds since 1970, 0 before mapi_connect() */
    time_t end;   /* 0 while packets may still come */
    enum mapi_flow_status status;
    uint64_t start_us; /* start and end in microseconds */
    uint64_t end_us;
} mapi_flow_info_t;

typedef struct mapi_function_info {
    int fid;
    char name[MAPI_NAME_BYTES];
    char libname[MAPI_NAME_BYTES];
    /* always MAPI_DEVTYPE_ALL: no function is specific to a type of device */
    char devtype[MAPI_NAME_BYTES];
    unsigned long long pkts; /* packets that reached the function since the flow was connected */
    unsigned long long passed_pkts; /* of these, those that it let pass */
    /*
     * packets or results that it dropped: buffer full, file not written, or unsupported link
     * type
     */
    uint64_t dropped;
    /*
     * for functions with intervals: steps back of the packets' time, and silences too long to
     * report interval by interval
     */
    uint64_t time_jumps;
    /*
     * packets whose headers it could not read: cut by the capture, malformed, encrypted, or too
     * many
     */
    uint64_t unread_headers;
    int result_size; /* bytes; 0 if the function has no result */
    int shared_with; /* other flows that use the same evaluation */
    /*
     * where it runs: in the place of the device's driver, such as "kernel", or in the "engine"; on
     * a device whose driver runs functions with the reason: "engine: REASON".  Empty before the
     * flow is connected.
     */
    char place[MAPI_NAME_BYTES];
    /* packets about which it could not decide within its limit of steps, and which did not pass */
    uint64_t given_up;
} mapi_function_info_t;

typedef struct mapi_device_info {
    int id;
    char device[MAPI_NAME_BYTES];
    char name[MAPI_NAME_BYTES]; /* of the driver */
    char alias[MAPI_NAME_BYTES];
    char description[1024];
    unsigned link_speed; /* Mbit/s, 0 = unknown */
    /* as in mapi.conf; functions look after labels and tags in any case */
    int mpls;
    int vlan;
    int link_type; /* LINKTYPE_ number, -1 until it is known */
    /* socket of the mapid that captures; empty: this process captures */
    char server[MAPI_NAME_BYTES];
} mapi_device_info_t;

/* MAPI 2's names of sizes, and of the device type that a function is for. */
#define MAPI_STR_LENGTH MAPI_NAME_BYTES
#define MAPI_DEVTYPE_ALL "1"

typedef struct mapi_lib_info {
    int id;
    char libname[MAPI_NAME_BYTES];
    unsigned functs; /* number of functions */
} mapi_lib_info_t;

typedef struct mapi_libfunct_info {
    char name[MAPI_NAME_BYTES];
    char descr[1024];
    /* letters as in <mapi/function.h>; 'b' is shown as 'i', as in MAPI 2 */
    char argdescr[MAPI_NAME_BYTES];
    char devtype[MAPI_NAME_BYTES];
} mapi_libfunct_info_t;

/*
 * Statistics of a device.  ps_recv + drop_bad_record + drop_truncated is the number of records that
 * could be recognized in the source; the drop_ fields count packets that did not reach a result, by
 * cause, and ps_drop is their sum.  If other programs have flows on the device, drop_buffer_full,
 * drop_link_type and drop_not_written are those of the caller's own flows, and device_drop counts
 * all.
 */
typedef struct mapi_stat {
    uint64_t ps_recv; /* packets that the driver passed to the engine */
    uint64_t ps_drop; /* sum of the drop_ fields below */
    /* dropped by the interface or while recording, as reported by the source */
    uint64_t ps_ifdrop;
    char hostname[MAPI_NAME_BYTES];
    char dev[MAPI_NAME_BYTES];
    uint64_t bytes_recv;       /* wire bytes of ps_recv */
    uint64_t drop_bad_record;  /* malformed records; reading stops at the first */
    uint64_t drop_truncated;   /* records truncated by the end of the file */
    uint64_t drop_buffer_full; /* copies, or results, for a client whose buffer had no room */
    /* times that a filter, function or file did not support a packet's link type */
    uint64_t drop_link_type;
    /*
     * packets or rows that could not be written to a file, or whose time a file or TO_BUFFER
     * cannot represent
     */
    uint64_t drop_not_written;
    /* packets for which the kernel's buffer had no room, or that it lost otherwise (below) */
    uint64_t drop_kernel;
    uint64_t drop_no_flow; /* packets read while no flow was connected */
    /*
     * bytes of the file after the place where reading stopped; for a compressed file,
     * compressed bytes
     */
    uint64_t unread_bytes;
    /*
     * why reading stopped before the end, or which records have inconsistent lengths; empty if
     * nothing is wrong
     */
    char message[MAPI_TEXT_BYTES];
    uint64_t device_drop; /* like ps_drop, for the flows of all programs */
    /* of drop_kernel: packets whose bytes the kernel could not copy */
    uint64_t kernel_unreadable;
    /* of drop_kernel: packets of the driver's previous program, after those of the next one */
    uint64_t kernel_late;
    /*
     * not a loss: packets that functions of the driver left to the engine, since they could not
     * decide in the kernel
     */
    uint64_t undecided;
    char remark[MAPI_TEXT_BYTES]; /* what is unusual but no fault; else empty */
} mapi_stat_t;

#ifdef __cplusplus
}
#endif

#endif /* MAPI_RESULTS_H */
