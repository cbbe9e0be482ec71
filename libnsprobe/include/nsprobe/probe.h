/* SPDX-License-Identifier: MIT */
/* Probes: a place in a program -> a record in the ring of the CPU it runs on. */
#ifndef NSPROBE_PROBE_H
#define NSPROBE_PROBE_H

/*
 *	NET_SLICE_INIT(batch, number, packets, bytes);
 *	NET_SLICE_START(filter);
 *	...
 *	NET_SLICE_STOP(filter);
 *	NET_SLICE_EXIT(batch);
 *
 * Names are plain identifiers; START and STOP of one name pair up within a
 * thread, slices nest.  With NETSLICE_DISABLE defined nothing is left of any
 * macro: no code, no data, no argument is evaluated.
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
#define NET_SLICE_SCOPE(name) ((void)0)

struct nsp_slice;

#endif /* NETSLICE_DISABLE */
#endif /* NSPROBE_PROBE_H */
