/* SPDX-License-Identifier: MIT */
/* Results: the structs that a client reads. */
#ifndef MAPI_RESULTS_H
#define MAPI_RESULTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MAPI_NAME_BYTES 128
#define MAPI_TEXT_BYTES 512

/* The published names of MAPI end in _t; they are kept because programs use them. */

/* What mapi_read_results() gives.  The memory belongs to the flow: the next read of the same function overwrites it, mapi_close_flow() frees it. */
typedef struct mapi_results {
	void *res;   /* the result: a uint64_t for the counters */
	uint64_t ts; /* microseconds since 1970, when the result was read */
	int size;    /* bytes at res */
} mapi_results_t;

/* A packet from TO_BUFFER.  pkt is the first byte of the frame, 20 bytes after the start; more than one byte follows. */
struct mapipkt {
	uint64_t ts;      /* NTP: seconds since 1900 << 32 | fraction */
	uint16_t ifindex; /* interface in the capture file or device */
	uint32_t caplen;  /* bytes at pkt */
	uint32_t wlen;    /* bytes that the frame had on the wire */
	uint8_t pkt;
};

/* The result of STARTSTOP: NTP times as in struct mapipkt, 0 while there is no such packet. */
typedef struct mapi_startstop {
	uint64_t first;           /* packet that came */
	uint64_t first_processed; /* packet that passed */
	uint64_t last_processed;
} mapi_startstop_t;

/* The result of STATS: of the values that it took. */
typedef struct mapi_value_stats {
	uint64_t count;
	long double sum;
	long double sum2; /* of their squares */
	uint64_t min;     /* 0 while count is 0 */
	uint64_t max;
} mapi_value_stats_t;

/*
 * The result of DIST: data[i] counts values from min + i * interval up to min + (i + 1) * interval, i < intervals.  Two more follow:
 * data[intervals] counts those from max on; data[intervals + 1] those below min, which data[0] has, too.
 */
typedef struct mapi_dist {
	uint64_t min;
	uint64_t max;
	uint64_t intervals;
	uint64_t data[1]; /* intervals + MAPI_DIST_BESIDE of them */
} mapi_dist_t;
#define MAPI_DIST_BESIDE 2

/* The result of BURST is an array of these: below the least size, each step above it, and all that is greater. */
typedef struct mapi_burst_category {
	uint64_t bytes; /* of bursts of this size */
	uint64_t packets;
	uint64_t bursts;
	uint64_t gap_bytes; /* that would have found room in gaps of this size */
	uint64_t gaps;
} mapi_burst_category_t;

/* A result of BUCKET; each read gives the next. */
typedef struct mapi_bucket {
	uint64_t timestamp; /* NTP: the interval's end, or the packet's time */
	uint64_t data;      /* the other function's result then, or what it grew by */
} mapi_bucket_t;

/* A result of THRESHOLD; each read gives the next. */
typedef struct mapi_threshold {
	uint64_t timestamp; /* NTP: when the bound was passed, in packets' time */
	uint64_t value;     /* what was compared: the result, its difference, or its growth in the window */
} mapi_threshold_t;

/* A result of HASHSAMP that keeps samples; each read gives the next. */
typedef struct mapi_sample {
	uint64_t timestamp;    /* NTP */
	uint8_t source[16];    /* addresses in network byte order, 4 or 16 bytes of each */
	uint8_t destination[16];
	uint32_t sequence;     /* TCP's, else 0 */
	uint16_t source_port;
	uint16_t destination_port;
	uint16_t family;       /* AF_INET or AF_INET6 */
	uint8_t protocol;      /* IPPROTO_TCP or IPPROTO_UDP */
	uint8_t tcp_flags;     /* as in the header: 1 FIN, 2 SYN, 4 RST, 8 PSH, 16 ACK ... */
} mapi_sample_t;

typedef void (*mapi_handler)(const struct mapipkt *);

/*
 * ANONYMIZE and ANONYMIZEIP: what became of fields.  What could not be changed as the rule says has been filled with zeros.
 */
typedef struct mapi_anonymize {
	uint64_t packets;
	uint64_t fields;            /* changed as the rules say */
	uint64_t absent;            /* packets without the field of a rule, rule by rule */
	uint64_t cut_fields;        /* zeros: the capture ends in the field */
	uint64_t lost_packets;      /* zeros from a header on that is cut, contradicts itself or is not known, rule by rule */
	uint64_t given_up;          /* zeros: a search took too long, or memory or libcrypto failed */
	uint64_t no_room;           /* values that were cut to the field's length: the packet could not become longer */
	uint64_t unknown_checksums; /* zeros: of bytes that are not all there */
	uint64_t not_kept;          /* of the whole process: values for which its tables had no place */
} mapi_anonymize_t;

enum mapi_flow_status { FLOW_INIT, FLOW_ACTIVE, FLOW_FINISHED, FLOW_CLOSED };

typedef struct mapi_flow_info {
	int fd;
	int devid;
	char device[MAPI_NAME_BYTES];
	int num_functions;
	uint64_t start_us; /* since 1970, 0 before mapi_connect() */
	uint64_t end_us;   /* 0 while packets may still come */
	enum mapi_flow_status status;
} mapi_flow_info_t;

typedef struct mapi_function_info {
	int fid;
	char name[MAPI_NAME_BYTES];
	uint64_t pkts;        /* packets that reached the function since the flow was connected */
	uint64_t passed_pkts; /* of these, those that it let pass */
	uint64_t dropped;     /* packets, or results, that it could not take: buffer full, file not written, or no filter for their link type */
	uint64_t time_jumps;  /* of one that goes by intervals: steps back of the packets' time, and silences too long to be told interval by interval */
	int result_size;      /* bytes, 0 when the function has no result */
	int shared_with;      /* other flows that use the same evaluation */
} mapi_function_info_t;

typedef struct mapi_device_info {
	int id;
	char device[MAPI_NAME_BYTES];
	char name[MAPI_NAME_BYTES]; /* of the driver */
	char alias[MAPI_NAME_BYTES];
	char description[MAPI_NAME_BYTES];
	unsigned link_speed; /* Mbit/s, 0 = unknown */
	int link_type;       /* LINKTYPE_ number, -1 until it is known */
} mapi_device_info_t;

/*
 * Where the packets of a device went.  ps_recv + drop_bad_record + drop_truncated is what the source held and could be
 * told apart; the drop_ fields say why a packet did not reach a result, and ps_drop is their sum.
 */
typedef struct mapi_stat {
	uint64_t ps_recv;   /* packets that the driver gave to the engine */
	uint64_t ps_drop;   /* sum of the drop_ fields below */
	uint64_t ps_ifdrop; /* dropped by the interface or at recording, as the source tells */
	char hostname[MAPI_NAME_BYTES];
	char dev[MAPI_NAME_BYTES];
	uint64_t bytes_recv;            /* wire bytes of ps_recv */
	uint64_t drop_bad_record;       /* records that contradict the format; reading stops at the first */
	uint64_t drop_truncated;        /* records that the end of the file cuts */
	uint64_t drop_buffer_full;      /* copies, or results, for a client whose buffer had no room */
	uint64_t drop_link_type;        /* packets that a filter could not judge, or a file not take: not defined for their link type */
	uint64_t drop_not_written;      /* packets, or rows of results, that a file did not take */
	uint64_t drop_kernel;           /* packets for which the kernel's buffer had no room */
	uint64_t drop_no_flow;          /* packets read while no flow was connected */
	uint64_t unread_bytes;          /* bytes of the file after the place where reading stopped; of a compressed one, as it lies there */
	char message[MAPI_TEXT_BYTES];  /* why reading stopped before the end, or which records contradict their lengths; empty when nothing is wrong */
} mapi_stat_t;

#ifdef __cplusplus
}
#endif

#endif /* MAPI_RESULTS_H */
