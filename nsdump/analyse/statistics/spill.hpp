// SPDX-License-Identifier: MIT
// analyse: rows of slices for which there is no memory -> a temporary file, and back by name.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyse/statistics/batch.hpp"
#include "decode/names.hpp"

namespace nsdump
{
// A file without a name in $TMPDIR, or in /var/tmp: the system removes it when the program ends, however that happens.
class SpillFile
{
public:
    SpillFile() = default;
    ~SpillFile();
    SpillFile(const SpillFile &) = delete;
    SpillFile &operator=(const SpillFile &) = delete;

    // A whole row; false when it cannot be written, which changes nothing for those that were.
    bool append(NameId name, const BatchedSlice *row);
    bool has(NameId name) const { return name < chains_.size() && chains_[name].first != kNone; }
    // each(row) for the name's rows in the order in which they came; then it has none.  Throws TraceError.
    template <class Each> void take(NameId name, Each each)
    {
        if (!has(name))
            return;
        for (std::uint32_t at = std::exchange(chains_[name], {}).first; at != kNone; at = next_[at])
            each(read(at));
    }

private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    static constexpr std::size_t kRowBytes = Batches::kSlices * sizeof(BatchedSlice);
    static constexpr std::size_t kBufferRows = 64; // written at once

    struct Chain {
        std::uint32_t first = kNone, last = kNone;
    };
    using Row = std::array<BatchedSlice, Batches::kSlices>;

    bool open();
    bool write_buffer();
    const BatchedSlice *read(std::uint32_t number);

    int file_ = -1;
    bool is_full_ = false;
    std::uint32_t written_ = 0; // rows in the file; those in the buffer come behind them
    std::vector<Row> buffer_;
    Row read_;
    std::vector<std::uint32_t> next_; // by number of a row: the name's next one
    std::vector<Chain> chains_;       // by name
};
} // namespace nsdump
