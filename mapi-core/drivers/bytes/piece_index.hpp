// SPDX-License-Identifier: MIT
// Piece index: the packets of a piece of a capture, found before the packet thread takes them, and
// possibly filtered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include <mapi/driver.h>

#include "drivers/bytes/prefilter_slot.hpp"

namespace mapi::drivers
{
// Used only by the thread that builds it until it delivers the piece, then only by the thread that
// takes the piece.
class PieceIndex
{
public:
    static constexpr uint32_t kBatchesMax =
        32; // enough for a piece of 128 KiB with packets of 48 bytes; of smaller packets only the
            // first ones are indexed

    void clear(const uint8_t *record);
    // Room for one more batch, or null if the index is full.
    mapi_packet *next_packets()
    {
        return count_ < kBatchesMax ? &packets_[size_t(count_) * MAPI_BATCH_MAX] : nullptr;
    }
    // Adds the batch in that room, whose records end at record_end.
    void add(uint32_t count, uint64_t wire_bytes, uint16_t link_type, const uint8_t *record_end);
    // Runs the prefilter, if there is one, on each batch.
    void prefilter(PrefilterSlot &filter);

    bool is_prefiltered() const { return is_prefiltered_; } // all batches
    uint32_t count() const { return count_; }
    const mapi_batch &batch(uint32_t number) const { return batches_[number]; }
    // Start of the first record of a batch; for number == count(): end of the last record.
    const uint8_t *record_of(uint32_t number) const { return records_[number]; }
    const uint8_t *end() const { return records_[count_]; }

private:
    uint32_t count_ = 0;
    bool is_prefiltered_ = false;
    std::array<const uint8_t *, kBatchesMax + 1> records_;
    std::array<mapi_batch, kBatchesMax> batches_;
    std::array<mapi_prefiltered, kBatchesMax> prefiltered_;
    std::array<mapi_packet, size_t(kBatchesMax) * MAPI_BATCH_MAX> packets_;
};

// Finds the packets.  Any thread, several at the same time.
class PieceFormat
{
public:
    static constexpr size_t kUnknown = std::numeric_limits<size_t>::max();

    virtual ~PieceFormat() = default;
    // Adds the complete records from `record` on, up to the first one with invalid lengths.
    virtual void index(const uint8_t *record, const uint8_t *end, PieceIndex &index) const = 0;
    // How many bytes the record that is incomplete at `end` continues after it, if index() accepts
    // all from `record` on; or kUnknown.
    virtual size_t missing_bytes(const uint8_t *record, const uint8_t *end) const = 0;
};

// How the pieces of a source are indexed; without a format they are not.
struct PieceIndexing {
    std::shared_ptr<const PieceFormat> format = nullptr;
    std::shared_ptr<PrefilterSlot> prefilter = std::make_shared<PrefilterSlot>();
};
} // namespace mapi::drivers
