/* SPDX-License-Identifier: MIT */
/* Registers the trace point; rte_trace wants this in another file than its use. */
#include <rte_trace_point_register.h>

#include "dpdk_event.h"

RTE_TRACE_POINT_REGISTER(rival_event, rival.event)
