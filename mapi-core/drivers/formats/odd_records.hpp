// SPDX-License-Identifier: MIT
// Odd records: the number of records of one kind that is reported to the user, and where the first
// one is.
#pragma once

#include <cstdint>
#include <string>

namespace mapi::drivers
{
class OddRecords
{
public:
    // packet: its number, from 1; 0: not reported.
    void note(uint64_t offset, uint64_t packet = 0)
    {
        if (records_++ > 0)
            return;
        first_offset_ = offset;
        first_packet_ = packet;
    }
    bool any() const { return records_ > 0; }
    // "2 packets are odd (the first at offset 40)", from "packet is", "packets are" and " odd".
    std::string text(const std::string &one, const std::string &several,
                     const std::string &what) const
    {
        return std::to_string(records_) + " " + (records_ == 1 ? one : several) + what +
               " (the first " +
               (first_packet_ ? "is packet " + std::to_string(first_packet_) + ", "
                              : std::string()) +
               "at offset " + std::to_string(first_offset_) + ")";
    }

private:
    uint64_t records_ = 0;
    uint64_t first_offset_ = 0;
    uint64_t first_packet_ = 0;
};
} // namespace mapi::drivers
