// SPDX-License-Identifier: MIT
// Piece index: the packets of a piece of a capture, found and filtered by another thread.
#include "drivers/piece_index.hpp"

#include "drivers/capture_format.hpp"

namespace mapi::drivers
{
void PieceIndex::clear(const uint8_t *record)
{
    count_ = 0;
    records_[0] = record;
}

void PieceIndex::add(uint32_t count, uint64_t wire_bytes, uint16_t link_type, const uint8_t *record_end)
{
    mapi_batch &batch = batches_[count_];
    batch = {};
    finish_batch(batch, next_packets(), count, wire_bytes, link_type);
    records_[++count_] = record_end;
}

void PieceIndex::prefilter(PrefilterSlot &filter)
{
    for (uint32_t i = 0; i < count_; ++i)
        batches_[i].prefiltered = filter.run(batches_[i], prefiltered_[i]) ? &prefiltered_[i] : nullptr;
}
} // namespace mapi::drivers
