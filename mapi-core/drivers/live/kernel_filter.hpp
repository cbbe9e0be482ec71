// SPDX-License-Identifier: MIT
// Kernel filter: a filter for packets as on the wire -> one for packets as the kernel stores them.
#pragma once

#include <cstdint>
#include <vector>

#include <linux/filter.h>

#include <mapi/function.h>

namespace mapi::drivers
{
// Passes all packets, truncated to `snaplen` bytes.
std::vector<sock_filter> pass_all(uint32_t snaplen);

// Empty if the kernel could reach a different verdict for some packets, or there are no
// instructions.
std::vector<sock_filter> kernel_filter(const mapi_filter_code *code, uint32_t count,
                                       uint32_t snaplen);
} // namespace mapi::drivers
