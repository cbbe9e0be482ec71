// SPDX-License-Identifier: MIT
// Finish batch: packets, the sum of their lengths and their link type -> the fields of their batch.
#pragma once

#include <cstdint>

#include <mapi/driver.h>

namespace mapi::drivers
{
inline void finish_batch(mapi_batch &batch, const mapi_packet *packets, uint32_t count,
                         uint64_t wire_bytes, uint16_t link_type)
{
    batch.packets = packets;
    batch.count = count;
    batch.all = count >= 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1;
    batch.wire_bytes = wire_bytes;
    batch.link_type = link_type;
    batch.prefiltered = nullptr;
}
} // namespace mapi::drivers
