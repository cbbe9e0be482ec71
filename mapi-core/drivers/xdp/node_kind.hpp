// SPDX-License-Identifier: MIT
// What a step's kind means for the program.
#pragma once

#include <mapi/driver.h>

namespace mapi::drivers::xdp
{
// Not all packets pass: the node has a place of its own in the tree.
inline bool selects(const mapi_offload_step &step)
{
    return step.kind == MAPI_OFFLOAD_FILTER || step.kind == MAPI_OFFLOAD_SEARCH ||
           step.kind == MAPI_OFFLOAD_SAMPLE || step.kind == MAPI_OFFLOAD_FLOW_HASH;
}

// The result depends on which packets came before: no packet may be missing at the node.
inline bool needs_each_packet(const mapi_offload_step &step)
{
    return (step.kind == MAPI_OFFLOAD_SAMPLE && step.period > 0) || step.kind == MAPI_OFFLOAD_LAST;
}

// The kernel decides on each packet: none is left to the engine.
inline bool always_decides(const mapi_offload_step &step)
{
    return step.kind != MAPI_OFFLOAD_SEARCH && step.kind != MAPI_OFFLOAD_FLOW_HASH;
}
} // namespace mapi::drivers::xdp
