// SPDX-License-Identifier: MIT
// stored_time: packets on their way to the store -> the time up to which none of them is missing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "qos/store/packet.hpp"

namespace qos
{
class StoredTime
{
public:
    // The packets, in order of arrival, are stored next.  is_all: none was left behind, so that
    // what arrived up to `until_ns` is among them or stored; 0: no such time is known.
    void take(const std::vector<SelectedPacket> &packets, bool is_all, int64_t until_ns)
    {
        if (!packets.empty())
            last_ns_ = std::max(last_ns_, packets.back().time_ns);
        if (is_all)
            last_ns_ = std::max(last_ns_, until_ns);
    }

    int64_t last_ns() const { return last_ns_; }

private:
    int64_t last_ns_ = 0;
};
} // namespace qos
