// SPDX-License-Identifier: MIT
// Kernel filter: a filter for packets as they were on the wire -> one for packets as the kernel keeps them.
#pragma once

#include <cstdint>
#include <vector>

#include <linux/filter.h>

#include <mapi/function.h>

namespace mapi::drivers
{
// What passes has `snaplen` bytes at most.
std::vector<sock_filter> pass_all(uint32_t snaplen);

// Empty: the kernel could judge some packets otherwise, or there are no instructions.
std::vector<sock_filter> kernel_filter(const mapi_filter_code *code, uint32_t count, uint32_t snaplen);
} // namespace mapi::drivers
