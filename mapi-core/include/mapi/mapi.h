/* SPDX-License-Identifier: MIT */
/* libmapi: the calls with which a C program filters, counts and copies packets of a device. */
#ifndef MAPI_MAPI_H
#define MAPI_MAPI_H

#include <stdint.h>
#include <time.h>
#include <unistd.h> /* programs of MAPI 1 expect sleep() from mapi.h */

#include "errors.h"
#include "mapi2_names.h"
#include "results.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Calls that return int return a descriptor or 0, and -1 on error; calls that return a pointer
 * return NULL on error.  mapi_read_error() then returns the cause; the last error is kept per
 * thread.  All calls may be made from any thread.
 */

/* Formats of capture files. */
enum mapi_file_formats {
    MFF_PCAP = 0,
    MFF_RAW = 1,
    MFF_DAG_ERF = 2,
    MFF_COMBO6 = 3,
    MFF_NAPATECH = 4,
    MFF_PCAPNG = 5
};

/*
 * Argument of TO_BUFFER: behavior of readers of an empty buffer, and of a file device with a full
 * buffer.
 */
enum toba_flg {
    WAIT = 0, /* mapi_get_next_pkt() blocks; reading of a file pauses, so nothing is lost */
    /* mapi_get_next_pkt() returns NULL; packets that find no room are dropped and counted */
    NOWAIT = 1
};

/* Argument of COOKING: data that the client receives, that the server receives, or both. */
enum cooking_direction { CLIENT_SIDE = 1, SERVER_SIDE = 2, BOTH_SIDE = 3 };

/*
 * Constants and results of single functions are in separate headers, as in MAPI 2: topx.h, stats.h,
 * pktinfo.h, sample.h, binop.h, res2file.h, dist.h, burst.h, bucket.h, expiredflowshash.h;
 * functions.h includes all of them.  Programs of MAPI 2 can use their own copies.
 */

/* Result of TO_FILE. */
enum { MAPI_FILE_DONE = 0, MAPI_FILE_RUNNING = 11 };

/* Argument of THRESHOLD: type and time of its comparisons. */
enum {
    THRESHOLD_CHAR = 0,
    THRESHOLD_INT = 1,
    THRESHOLD_ULL = 2,
    THRESHOLD_POLL = 64,
    THRESHOLD_WINDOW = 128
};
/*
 * Argument of THRESHOLD: the bound; the last three apply to the difference from the previous
 * comparison.
 */
enum {
    THRESHOLD_EQUAL = 0,
    THRESHOLD_ABOVE = 1,
    THRESHOLD_BELOW = 2,
    THRESHOLD_EQUAL_DIFF = 4,
    THRESHOLD_ABOVE_DIFF = 8,
    THRESHOLD_BELOW_DIFF = 16
};

/* Options of a flow; all start at 0. */
enum mapi_flow_option {
    /*
     * size of each buffer of packets or results, a power of two; 0: 4 MiB for TO_BUFFER, as
     * needed for results
     */
    MAPI_BUFFER_BYTES = 1,
    MAPI_SNAP_BYTES = 2, /* bytes of each packet that TO_BUFFER and TO_FILE keep; 0: all */
    /* 1: on a device whose driver runs functions, such as xdp, run them in the engine */
    MAPI_IN_ENGINE = 3
};
#define MAPI_BUFFER_BYTES_LEAST 4096
#define MAPI_BUFFER_BYTES_MOST (1u << 30)

/* Third argument of the three-argument mapi_read_results(). */
enum mapi_read_result_method { MAPI_COPY = 0, MAPI_REF = 1 };

int mapi_create_flow(const char *device);
int mapi_connect(int fd);
int mapi_close_flow(int fd);

/*
 * Connects flows of one device in one step: all begin with the same packet, and many flows take
 * little longer than one.  -1: none is connected.
 */
int mapi_connect_flows(const int *fds, int count);
/*
 * Closes flows in one step, which for many takes little longer than for one.  -1: none is closed,
 * unless mapid is gone.
 */
int mapi_close_flows(const int *fds, int count);

/*
 * Restarts a function of a connected flow: its result, and its packet counts, are as if the flow
 * had just been connected.  Counting restarts with the packets that the device reads after the call
 * returns; only if another flow's reader makes the device wait does it restart later.  Functions of
 * other flows, and those that use this one's result, are not affected.  -1 with
 * MAPI_INVALID_FID_FUNCID: the function cannot be reset (mapi(3)).
 */
int mapi_reset_function(int fd, int fid);
/*
 * Removes a function: it gets no more packets, and files that it wrote are complete when the call
 * returns.  Its number is not used again.  -1 with MAPI_FUNCTION_IN_USE: other functions of the
 * flow use its result or, in a connected flow, get their packets through it.  A packet that was
 * read from it stays valid until the flow is closed.
 */
int mapi_remove_function(int fd, int fid);

/*
 * Recreates a flow whose mapid has ended, at the mapid that runs now: under the same descriptor,
 * with the same functions and options, and connected if it was connected.  Counts start at 0, a
 * capture at its first packet.  Results and packets that were read before become invalid.  If other
 * flows refer to functions of a flow, call it for that flow first.  Also returns 0 if there is
 * nothing to do; -1 leaves the flow unchanged.
 */
int mapi_reconnect(int fd);

/*
 * The arguments of a function are those of its description (mapi(3)).  The macro of the same name
 * passes their number and types (argument_types.h), so that a missing, extra or mistyped argument
 * is refused; before C11 and C++11 it only counts them.  Called through a pointer, the symbol reads
 * the full list of arguments that MAPI 2 had.
 */
int mapi_apply_function(int fd, const char *function, ...);
int mapi_apply_function_counted(int argument_count, int fd, const char *function, ...);
/* types: a letter of argument_types.h for each argument. */
int mapi_apply_function_typed(const char *types, int fd, const char *function, ...);

/*
 * For a flow that is not connected: applies to functions that are applied later.  A value that must
 * be a power of two is rounded up; mapi_get_flow_option() returns the current value at any time.
 * -1 with MDLIB_NO_MODIFYING: the flow is connected.
 */
int mapi_set_flow_option(int fd, int option, uint64_t value);
int mapi_get_flow_option(int fd, int option, uint64_t *value);

mapi_results_t *mapi_read_results(int fd, int fid);
void *mapi_read_results_pointer(int fd, int fid, int mode);

/*
 * The packet is valid until the next call for the same function.  NULL without an error: the trace
 * has ended, or the buffer is empty with NOWAIT.
 */
struct mapipkt *mapi_get_next_pkt(int fd, int fid);
/*
 * Returns all available packets, at most `most`; they are valid until the next call for the same
 * function.  Waits timeout_ms for the first one, < 0 forever, also with NOWAIT.  0: none arrived in
 * time, or the trace has ended (see mapi_get_flow_info()); -1 on error.
 */
int mapi_get_next_pkts(int fd, int fid, struct mapipkt **packets, int most, int timeout_ms);
/*
 * For poll(2): readable at first, and, after mapi_get_next_pkts() returned 0 or mapi_get_next_pkt()
 * with NOWAIT returned NULL, when there is a packet or a result to read, or when no more will
 * arrive.  It belongs to the flow, which closes it; programs neither read from it nor close it.
 */
int mapi_get_poll_descriptor(int fd, int fid);
/* count <= 0: until the end.  Returns 0 after count packets and at the end of the trace. */
int mapi_loop(int fd, int fid, int count, mapi_handler handler);

/*
 * A capture file as a device; the returned name is passed to mapi_create_flow().
 * mapi_delete_offline_device() frees the name.
 */
char *mapi_create_offline_device(const char *path, int format);
/*
 * Adds a capture before the device is started.  Captures are read one after the other, in the order
 * of their first packets.
 */
int mapi_append_offline_device(const char *device, const char *path);
int mapi_start_offline_device(const char *device);
int mapi_delete_offline_device(char *device);
/* MAPI 1: device and flow in one; reading starts at mapi_connect(). */
int mapi_create_offline_flow(const char *path, int format);

/*
 * To be called before the device is opened or started; keys are those of mapi.conf(5), such as
 * "batch".
 */
int mapi_set_device_option(const char *device, const char *key, const char *value);
/*
 * Waits for the end of the flow's trace: 0, or -1 with MAPI_TIMED_OUT.  timeout_ms < 0 waits
 * forever.
 */
int mapi_wait_flow(int fd, int timeout_ms);

/*
 * Returns the last error of this thread and clears it.  text is NULL or has MAPI_ERROR_TEXT_BYTES.
 * Returns 0, or -1 if there was no error.
 */
int mapi_read_error(int *number, char *text);

/* The next_ calls return the first entry with a greater id. */
int mapi_get_flow_info(int fd, mapi_flow_info_t *info);
int mapi_get_next_flow_info(int fd, mapi_flow_info_t *info);
int mapi_get_function_info(int fd, int fid, mapi_function_info_t *info);
int mapi_get_next_function_info(int fd, int fid, mapi_function_info_t *info);
/* link_type: that of the packet's device (mapi_get_device_info()); needs no connection to mapid. */
int mapi_get_packet_ends(const struct mapipkt *packet, int link_type, mapi_packet_ends_t *ends);
int mapi_get_device_info(int devid, mapi_device_info_t *info);
int mapi_get_next_device_info(int devid, mapi_device_info_t *info);
/*
 * Functions that can be applied: library 0, the only one, has them all, numbered from 0.  The next_
 * calls start with -1.
 */
int mapi_get_library_info(int libid, mapi_lib_info_t *info);
int mapi_get_next_library_info(int libid, mapi_lib_info_t *info);
int mapi_get_libfunct_info(int libid, int number, mapi_libfunct_info_t *info);
int mapi_get_next_libfunct_info(int libid, int number, mapi_libfunct_info_t *info);
/* Returns the number of devices that were filled in: 1. */
int mapi_stats(const char *device, struct mapi_stat *stats);
int mapi_get_scope_size(int fd);
int mapi_is_remote(int fd);

/*
 * Two generations of the interface share two names: they are distinguished by the number of
 * arguments, at no cost.
 * A name without parentheses (a function pointer) refers to the symbol above.
 */
#define MAPI_DETAIL_16TH(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, N, ...) N
#define MAPI_DETAIL_COUNT(...) \
    MAPI_DETAIL_16TH(__VA_ARGS__, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define MAPI_DETAIL_3RD(_1, _2, _3, CALL, ...) CALL

#define mapi_read_results(...)                                                 \
    MAPI_DETAIL_3RD(__VA_ARGS__, mapi_read_results_pointer, mapi_read_results, \
                    mapi_read_results, )                                       \
    (__VA_ARGS__)
/* The documentation of MAPI 1 also uses this name. */
#define mapi_get_result(...)                                                   \
    MAPI_DETAIL_3RD(__VA_ARGS__, mapi_read_results_pointer, mapi_read_results, \
                    mapi_read_results, )                                       \
    (__VA_ARGS__)

#ifdef __cplusplus
}
#endif

#include "argument_types.h"

#endif /* MAPI_MAPI_H */
