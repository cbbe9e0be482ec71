/* SPDX-License-Identifier: MIT */
/* Registers the trace point; rte_trace requires a file other than that of its use. */
#include <rte_trace_point_register.h>

#include "dpdk_event.h"

RTE_TRACE_POINT_REGISTER(rival_event, rival.event)
