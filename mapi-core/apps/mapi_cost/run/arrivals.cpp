// SPDX-License-Identifier: MIT
// arrivals: a live device's statistics -> packets received and lost.
#include "arrivals.hpp"

#include <numeric>

namespace mapi_cost
{
namespace
{
struct Drop {
    const char *name;
    std::uint64_t mapi_stat::*count;
};

constexpr Drop kDrops[kDropCauses] = {
    {"kernel", &mapi_stat::drop_kernel},           {"interface", &mapi_stat::ps_ifdrop},
    {"buffer_full", &mapi_stat::drop_buffer_full}, {"link_type", &mapi_stat::drop_link_type},
    {"not_written", &mapi_stat::drop_not_written},
};
} // namespace

const char *drop_name(std::size_t cause)
{
    return kDrops[cause].name;
}

std::uint64_t Arrivals::dropped() const
{
    return std::accumulate(drops.begin(), drops.end(), std::uint64_t{0});
}

void Arrivals::add(const Arrivals &other)
{
    seconds += other.seconds;
    packets += other.packets;
    wire_bytes += other.wire_bytes;
    batches += other.batches;
    batched_packets += other.batched_packets;
    for (std::size_t i = 0; i < drops.size(); ++i)
        drops[i] += other.drops[i];
}

Arrivals arrivals_of(const mapi_stat_t &stats, double seconds)
{
    Arrivals arrivals;
    arrivals.seconds = seconds;
    arrivals.packets = stats.ps_recv;
    arrivals.wire_bytes = stats.bytes_recv;
    for (std::size_t i = 0; i < arrivals.drops.size(); ++i)
        arrivals.drops[i] = stats.*kDrops[i].count;
    return arrivals;
}
} // namespace mapi_cost
