// SPDX-License-Identifier: MIT
// UNCOOK: TCP packets longer than a segment -> segments; all others unchanged.
#include <algorithm>
#include <bit>
#include <exception>

#include <netinet/in.h>

#include <mapi/results.h>

#include "anonymize/bytes.hpp"
#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/unread_packets.hpp"
#include "functions/cooking/head.hpp"

namespace mapi::functions
{
namespace
{
constexpr uint32_t kIpBytes = 1500; // of a segment, if no other length is given

class Uncook
{
public:
    Uncook(mapi_uncook_t *result, uint32_t segment_bytes)
        : counts_(*result), segment_bytes_(segment_bytes)
    {
    }

    void run(const mapi_batch &batch, uint64_t mask)
    {
        made_.clear();
        unread_.note(batch, mask);
        for (; mask != 0; mask &= mask - 1) {
            try {
                take(batch.packets[std::countr_zero(mask)]);
            } catch (const std::exception &) { // out of memory
                ++counts_.lost_packets;
            }
        }
    }

    bool next(mapi_batch *batch) { return made_.next(batch); }
    const UnreadPackets &unread() const { return unread_; }

private:
    void take(const mapi_packet &packet)
    {
        const headers::Headers found = unread_.parse(packet);
        const headers::IpLayer *const ip = found.innermost();
        if (!cooking::can_be_head(found) || ip->is_fragment || ip->protocol != IPPROTO_TCP ||
            !cut(packet, found)) {
            made_.add(packet);
            ++counts_.passed_packets;
        }
    }

    // A truncated packet is left unchanged: its segments would not show that bytes are missing.
    bool cut(const mapi_packet &packet, const headers::Headers &found)
    {
        const headers::IpLayer &ip = *found.innermost();
        const auto payload = headers::payload_of(packet, ip);
        if (!payload || packet.caplen < packet.wire_len)
            return false;
        cooking::begin_head(head_, packet, found);
        cooking::end_head(head_, packet.data + ip.transport);
        const uint32_t head_bytes = UINT16_MAX - head_.room();
        const uint32_t most = std::min(
            segment_bytes_ ? segment_bytes_ : kIpBytes - std::min(head_bytes, kIpBytes - 1),
            head_.room());
        if (payload->size() <= most)
            return false;
        const uint64_t segments = (payload->size() + most - 1) / most;
        if (!made_.has_room(segments, payload->size() + segments * head_bytes)) {
            ++counts_.lost_packets;
            return true;
        }
        const uint32_t first = anonymize::word_at(packet.data + ip.transport + 4);
        for (uint32_t at = 0; at < payload->size(); at += most) {
            const auto part = payload->subspan(at, std::min<size_t>(most, payload->size() - at));
            const uint32_t sequence =
                first + at +
                (at && head_.flags() & cooking::kSyn ? 1 : 0); // a SYN occupies one sequence number
            cooking::make_packet(made_, head_, sequence,
                                 made_flags(at, part.size(), payload->size()), part,
                                 packet.timestamp_ns);
            ++counts_.segments;
        }
        ++counts_.cooked_packets;
        return true;
    }

    // Flags that begin a stream go into the first segment, flags that end it into the last.
    uint8_t made_flags(size_t at, size_t bytes, size_t all_bytes) const
    {
        const uint8_t flags = head_.flags();
        uint8_t wanted =
            uint8_t(flags & ~(cooking::kSyn | cooking::kFin | cooking::kRst | cooking::kPsh));
        if (at == 0)
            wanted |= flags & cooking::kSyn;
        if (at + bytes == all_bytes)
            wanted |= flags & (cooking::kFin | cooking::kRst | cooking::kPsh);
        return wanted;
    }

    mapi_uncook_t &counts_;
    const uint32_t segment_bytes_; // of payload; 0: as many as fit into kIpBytes
    MadePackets made_;
    cooking::Head head_;
    UnreadPackets unread_;
};

int create(const mapi_function_setup *setup, void **instance)
{
    if (setup->arguments[1].kind && !setup->arguments[2].kind)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_3,
                      "takes no arguments, one, or the three of MAPI 2, which are ignored");
    const bool is_given = setup->arguments[0].kind && !setup->arguments[2].kind;
    const int64_t bytes = is_given ? setup->arguments[0].number : 0;
    if (bytes < 0 || bytes > UINT16_MAX)
        return refuse_range(setup, MFUNCT_INVALID_ARGUMENT_1, "the segment size", bytes,
                            "1 to 65535 bytes of payload, or 0 for IP packets of 1500 bytes");
    if (const int refused = reserve_memory(setup, MadePackets::kMemoryBytes))
        return refused;
    return create_object<Uncook>(setup, instance, static_cast<mapi_uncook_t *>(setup->result),
                                 uint32_t(bytes));
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    static_cast<Uncook *>(instance)->run(*batch, mask);
    return 0;
}

int next_batch(void *instance, mapi_batch *batch)
{
    return static_cast<Uncook *>(instance)->next(batch);
}

constexpr mapi_function_transform kTransform = {
    .struct_size = sizeof(mapi_function_transform),
    .next_batch = next_batch,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_uncook = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "UNCOOK",
    .description = "splits long TCP packets into segments",
    .result_bytes = sizeof(mapi_uncook_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Uncook>,
    .arguments = {MAPI_OPTIONAL | MAPI_ARGUMENT_INT, MAPI_OPTIONAL | MAPI_ARGUMENT_INT,
                  MAPI_OPTIONAL | MAPI_ARGUMENT_INT},
    .drops = mapi::functions::drops_of_unread<mapi::functions::Uncook>,
    .transform = &mapi::functions::kTransform,
};
