// SPDX-License-Identifier: MIT
// pace: a rate -> the time that each packet takes.
#include "pace.hpp"

#include <cmath>

namespace mapi_gen
{
Ticks cost_of(const Rate &rate, uint64_t wire_bytes, unsigned threads)
{
    const double seconds =
        rate.bits_per_s > 0 ? 8 * double(wire_bytes) / rate.bits_per_s : 1 / rate.packets_per_s;
    const double cost = seconds * threads * double(ticks(1'000'000'000));
    // more than the longest run: the second packet is never due
    const double most = kMostSeconds * double(ticks(1'000'000'000));
    return Ticks(std::llround(std::clamp(cost, 1.0, most)));
}
} // namespace mapi_gen
