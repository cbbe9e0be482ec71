// SPDX-License-Identifier: (GPL-2.0 OR MIT)
/*
 * The kernel's tracepoints -> records.  The name of a program is that of its group and tracepoint,
 * by which the loader selects it.
 */
#include "writer.h"
#include "filter.h"
#include "calls.h"

#include "groups/interrupts.h"
#include "groups/network.h"
#include "groups/tcp_send.h"
#include "groups/tcp_recv.h"
#include "calibration.h"
#include "functions.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";
