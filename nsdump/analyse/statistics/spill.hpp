// SPDX-License-Identifier: MIT
// analyse: rows of slices that do not fit in memory -> a temporary file, and back by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "decode/names.hpp"

namespace nsdump
{
// An unnamed file in $TMPDIR or /var/tmp, so the system removes it whenever and however the program
// ends.
class SpillFile
{
public:
    explicit SpillFile(size_t row_bytes) : row_bytes_(row_bytes), read_(row_bytes) {}
    ~SpillFile();
    SpillFile(const SpillFile &) = delete;
    SpillFile &operator=(const SpillFile &) = delete;

    // Appends a whole row; false if it cannot be written, which does not affect earlier rows.
    bool append(NameId name, const void *row);
    bool has(NameId name) const { return name < chains_.size() && chains_[name].first != kNone; }
    // Calls each(const void *row) for the name's rows in order of arrival, and removes them. Throws
    // TraceError.
    template <class Each> void take(NameId name, Each each)
    {
        if (!has(name))
            return;
        for (uint32_t at = std::exchange(chains_[name], {}).first; at != kNone; at = next_[at])
            each(read(at));
    }

private:
    static constexpr uint32_t kNone = ~uint32_t{0};
    static constexpr size_t kBufferRows = 64; // written together

    struct Chain {
        uint32_t first = kNone, last = kNone;
    };

    bool open();
    bool write_buffer();
    const std::byte *read(uint32_t number);

    size_t row_bytes_;
    int file_ = -1;
    bool is_full_ = false;
    uint32_t written_ = 0; // rows in the file; those in the buffer follow them
    std::vector<std::byte> buffer_;
    std::vector<std::byte> read_; // one row
    std::vector<uint32_t> next_;  // by row number: the next row of the same name
    std::vector<Chain> chains_;   // by name
};
} // namespace nsdump
