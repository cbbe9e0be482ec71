// SPDX-License-Identifier: MIT
// decode: the chunks of a trace -> which of them may begin a unit or have records of a name; that
// as bytes, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decode/file_reader.hpp"

namespace nsdump
{
// What is kept of a chunk of records.
struct ChunkSummary {
    // Least and greatest number of a unit that begins in it; the least is greater if none does.
    uint64_t least_unit = std::numeric_limits<uint64_t>::max();
    uint64_t greatest_unit = 0;
    uint64_t names = 0; // a bit for each slice id in it; several ids share one

    static uint64_t bit_of(uint16_t slice_id)
    {
        constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u; // spreads neighbouring numbers
        return uint64_t{1} << (slice_id * kGolden >> 58);
    }
    void add(const Event &event);
    bool may_begin(uint64_t unit) const { return least_unit <= unit && unit <= greatest_unit; }
    bool may_have(uint64_t ids) const { return (names & ids) != 0; }
};

// All events of one chunk; false if its payload is damaged.
bool for_each_event(TraceFile &trace, ChunkWalker &walker, uint64_t offset, uint32_t cpu,
                    const std::function<void(const Event &)> &each);

class UnitIndex
{
public:
    // Reads the whole trace; `progress` gets the bytes read so far, and returns false to give up.
    static std::optional<UnitIndex> build(TraceFile &trace,
                                          const std::function<bool(uint64_t)> &progress);

    // With what identifies the trace.
    std::string encode(const TraceFile &trace) const;
    // None if the bytes are not the index of just this trace.
    static std::optional<UnitIndex> decode(std::span<const std::byte> bytes,
                                           const TraceFile &trace);
    static size_t encoded_bytes(const TraceFile &trace);
    static bool is_index(std::span<const std::byte> bytes); // of any trace, also of a newer version

    // The chunks of an element of TraceFile::cpus(), in file order.
    std::span<const ChunkSummary> chunks_of(size_t place) const { return by_place_[place]; }

private:
    std::vector<std::vector<ChunkSummary>> by_place_;
};
} // namespace nsdump
