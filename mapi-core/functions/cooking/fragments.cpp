// SPDX-License-Identifier: MIT
// Fragments: RFC 791, RFC 8200 4.5.
#include "functions/cooking/fragments.hpp"

#include <algorithm>
#include <iterator>

#include <netinet/in.h>

#include "anonymize/bytes.hpp"
#include "functions/cooking/segment.hpp"

namespace mapi::cooking
{
namespace
{
using anonymize::half_at;
using anonymize::word_at;

constexpr uint32_t kFragmentHeaderBytes = 8;
constexpr uint32_t kOffsetUnit = 8;
} // namespace

std::optional<Fragment> read_fragment(const mapi_packet &packet, const headers::IpLayer &layer)
{
    const uint8_t *const data = packet.data;
    const auto source = headers::source_of(packet, layer),
               destination = headers::destination_of(packet, layer);
    Fragment fragment;
    std::copy(source.begin(), source.end(), fragment.addresses.begin());
    std::copy(destination.begin(), destination.end(), fragment.addresses.begin() + 16);
    uint32_t begin = layer.transport;
    if (layer.version == 4) {
        if (data[layer.offset + 9] != IPPROTO_TCP)
            return std::nullopt;
        const uint16_t field = half_at(data + layer.offset + 6);
        fragment.identification = half_at(data + layer.offset + 4);
        fragment.offset = (field & 0x1fffu) * kOffsetUnit;
        fragment.has_more = field & 0x2000;
    } else {
        const uint32_t at = layer.fragment;
        if (at == 0 || data[at] != IPPROTO_TCP)
            return std::nullopt;
        begin = at + kFragmentHeaderBytes;
        fragment.identification = word_at(data + at + 4);
        fragment.offset = half_at(data + at + 2) & 0xfff8u;
        fragment.has_more = data[at + 3] & 1;
    }
    fragment.data = {data + begin, layer.end - begin};
    return fragment;
}

std::optional<Datagram> Fragments::take(const mapi_packet &packet, const headers::Headers &found,
                                        const Fragment &fragment)
{
    const uint32_t bytes = uint32_t(fragment.data.size());
    const uint32_t end = fragment.offset + bytes;
    ++counts_.fragments;
    const bool is_odd = fragment.has_more && bytes % kOffsetUnit != 0;
    if (bytes == 0 || is_odd || end > UINT16_MAX || cut_bytes_of(packet, *found.innermost()) != 0) {
        ++counts_.lost_fragments;
        return std::nullopt;
    }
    const auto waiting = find({fragment.addresses, fragment.identification}, packet.timestamp_ns);
    ++waiting->fragments;
    if (fragment.offset == 0)
        begin_head(waiting->datagram.head, packet, found);
    if (!fragment.has_more)
        waiting->end = end;
    HalfStream &held = waiting->datagram.bytes;
    held.put(fragment.offset, fragment.data);
    cost_ += kDatagramCost + held.cost() - waiting->cost;
    waiting->cost = kDatagramCost + held.cost();
    if (waiting->end != 0 && !held.has_hole() && held.ready().size() == waiting->end) {
        std::optional<Datagram> whole(std::move(waiting->datagram));
        erase(waiting);
        return whole;
    }
    if (waiting->end != 0 && held.ready().size() > waiting->end)
        give_up(waiting); // they are inconsistent
    while (cost_ > kCostMost)
        give_up(waiting_.begin());
    return std::nullopt;
}

Fragments::List::iterator Fragments::find(const Key &key, uint64_t timestamp_ns)
{
    const auto found = by_key_.find(key);
    if (found != by_key_.end())
        return found->second;
    waiting_.emplace_back();
    const auto waiting = std::prev(waiting_.end());
    waiting->key = key;
    waiting->first_ns = timestamp_ns;
    waiting->datagram.bytes.begin(0);
    try {
        by_key_.emplace(key, waiting);
    } catch (...) {
        waiting_.erase(waiting);
        throw;
    }
    return waiting;
}

void Fragments::erase(List::iterator waiting)
{
    cost_ -= waiting->cost;
    by_key_.erase(waiting->key);
    waiting_.erase(waiting);
}

void Fragments::give_up(List::iterator waiting)
{
    counts_.lost_fragments += waiting->fragments;
    erase(waiting);
}

void Fragments::expire(uint64_t now_ns)
{
    while (!waiting_.empty() && now_ns > waiting_.front().first_ns &&
           now_ns - waiting_.front().first_ns > kTimeoutNs)
        give_up(waiting_.begin());
}

void Fragments::end_all()
{
    while (!waiting_.empty())
        give_up(waiting_.begin());
}
} // namespace mapi::cooking
