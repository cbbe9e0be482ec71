/* SPDX-License-Identifier: MIT */
/* Probes: a place in a program -> a record in the ring of the CPU it runs on. */
#ifndef NSPROBE_PROBE_H
#define NSPROBE_PROBE_H

/*
 *	NET_SLICE_CONF("output=trace.nsl");
 *	NET_SLICE_INIT(batch, number, packets, bytes);
 *	NET_SLICE_START(filter);
 *	...
 *	NET_SLICE_STOP(filter);
 *	NET_SLICE_EXIT(batch);
 *
 * Names are plain identifiers.  START and STOP with the same name are paired within
 * a thread; slices nest.  The macros are statements, may be used in any thread and
 * in signal handlers, and do nothing while no session is open.  One exception:
 * with PMU counters (rdpmc, perf-read) the first probe of a thread opens the
 * counters, which allocates memory; it should not be in a signal handler.
 *
 * With NETSLICE_DISABLE defined, the macros expand to nothing: no code, no data,
 * and no argument is evaluated.
 */
#ifdef NETSLICE_DISABLE

#define NET_SLICE_CONF(options) ((void)0)
#define NET_SLICE_INIT(unit, number, count, bytes) ((void)0)
#define NET_SLICE_START(name) ((void)0)
#define NET_SLICE_STOP(name) ((void)0)
#define NET_SLICE_MARK(name, value) ((void)0)
#define NET_SLICE_EXIT(unit) ((void)0)
#define NET_SLICE_CREATE(name) ((struct nsp_slice *)0)
#define NET_SLICE_START_AT(slice) ((void)0)
#define NET_SLICE_STOP_AT(slice) ((void)0)
#define NET_SLICE_IS_ON() 0
#ifdef __cplusplus
#define NET_SLICE_SCOPE(name) ((void)0)
#endif

struct nsp_slice;

#else

#include <nsprobe/detail/arch.h>
#include <nsprobe/detail/register.h>
#include <nsprobe/detail/state.h>
#include <nsprobe/session.h>

#define NSP_DETAIL_STATE "nsp_detail_state"

/*
 * Opens the session with these options; see nsp_session_configure().  Failures are reported on
 * standard error.
 */
#define NET_SLICE_CONF(options) nsp_session_conf(options)

/* Begins a unit of work: one packet, or a batch of `count` packets with `bytes` on the wire in all.
 */
#define NET_SLICE_INIT(unit, number, count, bytes) \
    NSP_DETAIL_PROBE_3(NSP_DETAIL_STATE, #unit, NSLICE_KIND_INIT, number, count, bytes)

/* Begins and ends a slice. */
#define NET_SLICE_START(name) NSP_DETAIL_PROBE(NSP_DETAIL_STATE, #name, NSLICE_KIND_START)
#define NET_SLICE_STOP(name) NSP_DETAIL_PROBE(NSP_DETAIL_STATE, #name, NSLICE_KIND_STOP)

/* A value at a point in time. */
#define NET_SLICE_MARK(name, value) \
    NSP_DETAIL_PROBE_1(NSP_DETAIL_STATE, #name, NSLICE_KIND_MARK, value)

/* Ends the unit. */
#define NET_SLICE_EXIT(unit) NSP_DETAIL_PROBE(NSP_DETAIL_STATE, #unit, NSLICE_KIND_EXIT)

/*
 * Slices named at run time: create once, keep the pointer, use from any thread.  The pointer must
 * not be NULL.
 */
#define NET_SLICE_CREATE(name) nsp_slice_create(name, __FILE__, __LINE__)
#define NET_SLICE_START_AT(slice) NSP_DETAIL_PROBE_AT(NSP_DETAIL_STATE, &(slice)->start)
#define NET_SLICE_STOP_AT(slice) NSP_DETAIL_PROBE_AT(NSP_DETAIL_STATE, &(slice)->stop)

/*
 * Whether a session is recording: for programs that work differently, e.g. on another thread, when
 * they are not measured.
 */
#define NET_SLICE_IS_ON() nsp_session_is_on()

#ifdef __cplusplus
/* START here, STOP wherever the scope is left. */
#define NSP_DETAIL_JOIN_(a, b) a##b
#define NSP_DETAIL_JOIN(a, b) NSP_DETAIL_JOIN_(a, b)
#define NET_SLICE_SCOPE(name)                                              \
    struct NSP_DETAIL_JOIN(nsp_scope_, __LINE__) {                         \
        NSP_DETAIL_JOIN(nsp_scope_, __LINE__)() { NET_SLICE_START(name); } \
        ~NSP_DETAIL_JOIN(nsp_scope_, __LINE__)() { NET_SLICE_STOP(name); } \
    } NSP_DETAIL_JOIN(nsp_scope_here_, __LINE__)
#endif

#endif /* NETSLICE_DISABLE */
#endif /* NSPROBE_PROBE_H */
