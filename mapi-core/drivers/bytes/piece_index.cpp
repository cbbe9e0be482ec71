// SPDX-License-Identifier: MIT
// Piece index: the packets of a piece of a capture, found before the packet thread takes them.
#include "drivers/bytes/piece_index.hpp"

#include "drivers/finish_batch.hpp"

namespace mapi::drivers
{
void PieceIndex::clear(const uint8_t *record)
{
    count_ = 0;
    is_prefiltered_ = false;
    records_[0] = record;
}

void PieceIndex::add(uint32_t count, uint64_t wire_bytes, uint16_t link_type,
                     const uint8_t *record_end)
{
    mapi_batch &batch = batches_[count_];
    batch = {};
    finish_batch(batch, next_packets(), count, wire_bytes, link_type);
    records_[++count_] = record_end;
}

void PieceIndex::prefilter(PrefilterSlot &filter)
{
    is_prefiltered_ = true;
    for (uint32_t i = 0; i < count_; ++i) {
        batches_[i].prefiltered =
            filter.run(batches_[i], prefiltered_[i]) ? &prefiltered_[i] : nullptr;
        is_prefiltered_ &= batches_[i].prefiltered != nullptr;
    }
}
} // namespace mapi::drivers
