// SPDX-License-Identifier: MIT
// row: the cost of a scenario, and the rates that it allows.
#include "row.hpp"

#include <algorithm>

namespace mapi_cost
{
namespace
{
constexpr unsigned kPreambleAndGapBytes = 20;

double wire_bits(unsigned frame_bytes)
{
    return (frame_bytes + kPreambleAndGapBytes) * 8.0;
}
} // namespace

double line_packets_per_second(unsigned gbit, unsigned frame_bytes)
{
    return gbit * 1e9 / wire_bits(frame_bytes);
}

std::optional<Rates> rates_of(double cycles_per_packet, double clock_hz,
                              unsigned measured_frame_bytes)
{
    if (!(cycles_per_packet > 0) || !(clock_hz > 0))
        return std::nullopt;
    Rates rates;
    rates.packets_per_second = clock_hz / cycles_per_packet;
    for (const unsigned gbit : {10u, 25u, 100u}) {
        for (const unsigned frame_bytes : {64u, 1500u}) {
            if (measured_frame_bytes != 0 && frame_bytes != measured_frame_bytes)
                continue; // the cost at another size is unknown
            const double line = line_packets_per_second(gbit, frame_bytes);
            rates.lines.push_back({gbit, frame_bytes, line, rates.packets_per_second / line,
                                   rates.packets_per_second * wire_bits(frame_bytes) / 1e9});
        }
    }
    return rates;
}

std::optional<double> Row::driver_read_cycles() const
{
    const auto found = std::find_if(parts.begin(), parts.end(),
                                    [](const RowPart &part) { return part.name == "driver_read"; });
    return found == parts.end() ? std::nullopt : found->cycles;
}
} // namespace mapi_cost
