// SPDX-License-Identifier: MIT
// Odd lengths: records whose captured length contradicts their wire length or the snap length -> a remark.
#pragma once

#include <cstdint>
#include <string>

#include "drivers/formats/odd_records.hpp"

namespace mapi::drivers
{
// They do not end the reading: where the next record begins is still certain.
class OddLengths
{
public:
    // A record is long in one way at least.
    void note(uint32_t caplen, uint32_t wire_len, uint32_t snaplen, uint64_t offset);
    // Both kinds with count and first place; empty when there was none.
    std::string remark() const;

private:
    OddRecords longer_than_wire_;
    OddRecords longer_than_snaplen_;
};
} // namespace mapi::drivers
