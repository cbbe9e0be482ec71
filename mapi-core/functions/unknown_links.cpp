// SPDX-License-Identifier: MIT
// Unknown links: only batches that may have such packets are examined one by one.
#include "functions/unknown_links.hpp"

#include <bit>

namespace mapi::functions
{
void UnknownLinks::note_each(const mapi_batch &batch, uint64_t mask)
{
    uint64_t packets = 0;
    for (; mask != 0; mask &= mask - 1)
        packets += !links::is_known(batch.packets[std::countr_zero(mask)]);
    packets_.fetch_add(packets, std::memory_order_relaxed);
}
} // namespace mapi::functions
