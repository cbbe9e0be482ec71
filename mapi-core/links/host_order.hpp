// SPDX-License-Identifier: MIT
// Host order: pseudo headers that a machine of the other byte order recorded -> the same in this machine's.
#pragma once

#include <cstdint>

namespace mapi::links
{
// Turns round the numbers that recorders write in their own byte order.  As often as it is called: each packet is to be given once.
using Swap = void (*)(uint8_t *data, uint32_t caplen);

// Null: packets of this link type have no such numbers.
Swap swap_of(uint16_t link_type);
} // namespace mapi::links
