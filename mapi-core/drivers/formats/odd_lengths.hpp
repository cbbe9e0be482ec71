// SPDX-License-Identifier: MIT
// Odd lengths: records whose captured length exceeds their wire length or the snaplen -> a remark.
#pragma once

#include <cstdint>
#include <string>

#include "drivers/formats/odd_records.hpp"

namespace mapi::drivers
{
// They do not end the reading, since it is still certain where the next record begins.
class OddLengths
{
public:
    // At least one of the lengths is exceeded.
    void note(uint32_t caplen, uint32_t wire_len, uint32_t snaplen, uint64_t offset);
    // Both kinds with count and first offset; empty if there were none.
    std::string message() const;

private:
    OddRecords longer_than_wire_;
    OddRecords longer_than_snaplen_;
};
} // namespace mapi::drivers
