// SPDX-License-Identifier: MIT
#include "functions/cooking/half_stream.hpp"

#include <algorithm>

namespace mapi::cooking
{
void HalfStream::begin(uint32_t sequence)
{
    bytes_ = Tins::TCPIP::DataTracker(sequence);
    first_ = sequence;
    has_begun_ = true;
}

void HalfStream::take(size_t count)
{
    auto &payload = bytes_.payload();
    if (count == payload.size())
        std::vector<uint8_t>().swap(
            payload); // most streams have no waiting bytes and must not use memory
    else
        payload.erase(payload.begin(), payload.begin() + ptrdiff_t(count));
}

void HalfStream::prepend(std::span<const uint8_t> bytes)
{
    auto &payload = bytes_.payload();
    payload.insert(payload.begin(), bytes.begin(), bytes.end());
    first_ -= uint32_t(bytes.size());
}

uint32_t HalfStream::skip_hole(uint32_t bytes_most)
{
    const auto &waiting = bytes_.buffered_payload();
    const uint32_t here = bytes_.sequence_number();
    uint32_t bytes = bytes_most;
    if (!waiting.empty()) { // sequence numbers wrap: the first may not be the map's first
        const auto next = waiting.lower_bound(here);
        bytes = std::min(bytes, (next == waiting.end() ? waiting.begin() : next)->first - here);
    }
    bytes_.sequence_number(here + bytes);
    bytes_.process_payload(here + bytes, {}); // takes in what waits there
    return bytes;
}

void HalfStream::forget()
{
    bytes_ = Tins::TCPIP::DataTracker(bytes_.sequence_number());
}

void HalfStream::forget_waiting()
{
    auto ready = std::move(bytes_.payload());
    forget();
    bytes_.payload() = std::move(ready);
}
} // namespace mapi::cooking
