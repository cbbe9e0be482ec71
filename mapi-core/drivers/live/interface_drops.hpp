// SPDX-License-Identifier: MIT
// Interface drops: packets that the interface itself dropped since it was opened, from the counters
// that libpcap uses.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

namespace mapi::drivers
{
class InterfaceDrops
{
public:
    explicit InterfaceDrops(const std::string &interface)
        : folder_("/sys/class/net/" + interface + "/statistics/"), last_(read().value_or(0))
    {
    }

    uint64_t count()
    {
        if (const auto now = read()) {
            sum_ += *now >= last_ ? *now - last_
                                  : *now; // a new interface of the same name counts from 0
            last_ = *now;
        }
        return sum_;
    }

private:
    // Empty if the counters cannot be read now.
    std::optional<uint64_t> read() const
    {
        uint64_t sum = 0;
        for (const char *name : {"rx_missed_errors", "rx_fifo_errors"}) {
            uint64_t value = 0;
            std::ifstream file(folder_ + name);
            if (!(file >> value))
                return std::nullopt;
            sum += value;
        }
        return sum;
    }

    const std::string folder_;
    uint64_t last_;
    uint64_t sum_ = 0;
};
} // namespace mapi::drivers
