/* SPDX-License-Identifier: MIT */
/* The trace point of dpdk.cpp: a time and a name, no field. */
#ifndef RIVALS_DPDK_EVENT_H
#define RIVALS_DPDK_EVENT_H

#include <rte_trace_point.h>

#ifdef __cplusplus
extern "C" {
#endif

RTE_TRACE_POINT(rival_event, RTE_TRACE_POINT_ARGS(void), )

#ifdef __cplusplus
}
#endif
#endif
