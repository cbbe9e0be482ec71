// SPDX-License-Identifier: MIT
// Host order: pseudo headers recorded by a machine of the other byte order -> the same in this
// machine's byte order.
#pragma once

#include <cstdint>

namespace mapi::links
{
// Swaps the numbers that recorders write in their own byte order.  Must be called once per packet:
// a second call swaps them back.
using Swap = void (*)(uint8_t *data, uint32_t caplen);

// Null if packets of this link type have no such numbers.
Swap swap_of(uint16_t link_type);
} // namespace mapi::links
