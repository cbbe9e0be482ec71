/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Numbers of the points of all groups. */
#ifndef NSBPF_POINTS_H
#define NSBPF_POINTS_H

#include <nslice/points.h>

#if defined(__TARGET_ARCH_x86) || defined(__x86_64__)
#define NSLICE_POINTS_IRQ(POINT) NSLICE_POINTS_IRQ_ALL(POINT) NSLICE_POINTS_IRQ_X86(POINT)
#else
#define NSLICE_POINTS_IRQ(POINT) NSLICE_POINTS_IRQ_ALL(POINT)
#endif

enum nsbpf_point {
#define POINT_NET_RX(id, ...) NET_RX_##id,
#define POINT_NET_TX(id, ...) NET_TX_##id,
#define POINT_NAPI(id, ...) NAPI_##id,
#define POINT_IRQ(id, ...) IRQ_##id,
#define POINT_SOFTIRQ(id, ...) SOFTIRQ_##id,
#define POINT_SCHED(id, ...) SCHED_##id,
#define POINT_SOCK(id, ...) SOCK_##id,
#define POINT_TCP_SEND(id, ...) TCP_SEND_##id,
#define POINT_TCP_RECV(id, ...) TCP_RECV_##id,
	NSLICE_POINTS_NET_RX(POINT_NET_RX)
	NSLICE_POINTS_NET_TX(POINT_NET_TX)
	NSLICE_POINTS_NAPI(POINT_NAPI)
	NSLICE_POINTS_IRQ(POINT_IRQ)
	NSLICE_POINTS_SOFTIRQ(POINT_SOFTIRQ)
	NSLICE_POINTS_SCHED(POINT_SCHED)
	NSLICE_POINTS_SOCK(POINT_SOCK)
	NSLICE_POINTS_TCP_SEND(POINT_TCP_SEND)
	NSLICE_POINTS_TCP_RECV(POINT_TCP_RECV)
	NSBPF_CALIBRATION, /* written by the recorder's own calls */
	NSBPF_CALIBRATION_MARK,
	NSBPF_CALIBRATION_INIT,
	NSBPF_POINTS,
};

/* What the programs of the calibration write. */
enum nsbpf_calibration {
	NSBPF_CALLS_OF_PROGRAMS, /* a record in each of several programs */
	NSBPF_NO_RECORDS,        /* in one program, between two records: none */
	NSBPF_ENDS,              /* NSBPF_CALIBRATED_RECORDS like START, STOP and EXIT */
	NSBPF_MARKS,
	NSBPF_INITS,
	NSBPF_ALONE = 8,   /* added to the last four: without work around each record */
	NSBPF_PROBES = 16, /* added to these: as probes of users' programs write */
};
#define NSBPF_CALIBRATED_RECORDS 7

#endif /* NSBPF_POINTS_H */
