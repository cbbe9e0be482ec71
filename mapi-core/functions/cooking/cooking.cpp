// SPDX-License-Identifier: MIT
// COOKING: TCP packets -> packets with the bytes of their streams in order; all others unchanged.
#include <bit>
#include <exception>

#include <netinet/in.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/unread_packets.hpp"
#include "functions/cooking/fragments.hpp"
#include "functions/cooking/streams.hpp"
#include "headers/end_addresses.hpp"

namespace mapi::functions
{
namespace
{
enum Argument { kThreshold, kTimeout, kReturnOnce, kSide };
constexpr int64_t kThresholdMost = 16 << 20;
constexpr uint64_t kNsPerSecond = 1000000000;

class Cook
{
public:
    Cook(mapi_cooking_t *result, const cooking::Order &order)
        : counts_(*result), streams_(order, counts_, made_), fragments_(counts_)
    {
    }

    void run(const mapi_batch &batch, uint64_t mask)
    {
        made_.clear();
        unread_.note(batch, mask);
        for (; mask != 0; mask &= mask - 1) {
            const mapi_packet &packet = batch.packets[std::countr_zero(mask)];
            guard([&] {
                expire(packet.timestamp_ns);
                take(packet);
            });
        }
    }

    void tick(uint64_t now_ns)
    {
        made_.clear();
        guard([&] { expire(now_ns); });
    }

    void flush()
    {
        made_.clear();
        guard([&] {
            fragments_.end_all();
            streams_.end_all();
        });
    }

    bool next(mapi_batch *batch) { return made_.next(batch); }
    const UnreadPackets &unread() const { return unread_; }

private:
    template <class Work> void guard(const Work &work)
    {
        try {
            work();
        } catch (const std::exception &) { // out of memory
            ++counts_.lost_packets;
        }
    }

    void expire(uint64_t now_ns)
    {
        streams_.expire(now_ns);
        fragments_.expire(now_ns);
    }

    void take(const mapi_packet &packet)
    {
        const headers::Headers found = unread_.parse(packet);
        const headers::IpLayer *const ip = found.innermost();
        if (!cooking::can_be_head(found) ||
            !(ip->is_fragment ? take_fragment(packet, found) : take_whole(packet, found))) {
            made_.add(packet);
            ++counts_.passed_packets;
        }
    }

    bool take_whole(const mapi_packet &packet, const headers::Headers &found)
    {
        const headers::IpLayer &ip = *found.innermost();
        if (ip.protocol != IPPROTO_TCP)
            return false;
        const auto ends = headers::end_addresses_of(packet.data, ip);
        if (!ends)
            return false;
        auto segment = cooking::read_segment(ends->source(), ends->destination(),
                                             headers::datagram_of(packet, ip));
        if (!segment)
            return false;
        segment->cut_bytes = cooking::cut_bytes_of(packet, ip);
        if (!segment->payload.empty()) {
            cooking::begin_head(head_, packet, found);
            cooking::end_head(head_, packet.data + ip.transport);
        }
        segment->timestamp_ns = packet.timestamp_ns;
        streams_.take(*segment, head_);
        return true;
    }

    bool take_fragment(const mapi_packet &packet, const headers::Headers &found)
    {
        const auto fragment = cooking::read_fragment(packet, *found.innermost());
        if (!fragment)
            return false;
        auto whole = fragments_.take(packet, found, *fragment);
        if (!whole)
            return true;
        const auto datagram = whole->bytes.ready();
        auto segment = cooking::read_segment(whole->source(), whole->destination(), datagram);
        if (!segment) { // too short to be a TCP packet
            ++counts_.lost_fragments;
            return true;
        }
        cooking::end_head(whole->head, datagram.data());
        segment->timestamp_ns = packet.timestamp_ns;
        streams_.take(*segment, whole->head);
        return true;
    }

    mapi_cooking_t &counts_;
    MadePackets made_;
    cooking::Streams streams_;
    cooking::Fragments fragments_;
    cooking::Head head_;
    UnreadPackets unread_;
};

int create(const mapi_function_setup *setup, void **instance)
{
    const mapi_argument *const arguments = setup->arguments;
    if (arguments[kThreshold].number > kThresholdMost)
        return refuse_range(setup, MFUNCT_INVALID_ARGUMENT_1, "the threshold",
                            arguments[kThreshold].number, "at most 16777216 bytes");
    if (arguments[kTimeout].number < 0)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_2,
                      "the timeout is negative (seconds, or 0 for none)");
    if (arguments[kSide].number < CLIENT_SIDE || arguments[kSide].number > BOTH_SIDE)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_4,
                      "side " + std::to_string(arguments[kSide].number) +
                          " is not 1 (CLIENT_SIDE), 2 (SERVER_SIDE) or 3 (BOTH_SIDE)");
    cooking::Order order;
    if (arguments[kThreshold].number > 0)
        order.threshold = size_t(arguments[kThreshold].number);
    order.timeout_ns = uint64_t(arguments[kTimeout].number) * kNsPerSecond;
    order.is_once = arguments[kReturnOnce].number != 0;
    order.side = int(arguments[kSide].number);
    if (const int refused = reserve_memory(setup, cooking::Streams::memory_bytes(order.limits) +
                                                      cooking::Fragments::kCostMost))
        return refused;
    return create_object<Cook>(setup, instance, static_cast<mapi_cooking_t *>(setup->result),
                               order);
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    static_cast<Cook *>(instance)->run(*batch, mask);
    return 0;
}

int next_batch(void *instance, mapi_batch *batch)
{
    return static_cast<Cook *>(instance)->next(batch);
}

void flush(void *instance)
{
    static_cast<Cook *>(instance)->flush();
}

constexpr mapi_function_transform kTransform = {
    .struct_size = sizeof(mapi_function_transform),
    .next_batch = next_batch,
    .flush = flush,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_cooking = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "COOKING",
    .description = "reassembles TCP streams",
    .flags = MAPI_FUNCTION_SHARED_BY_STEP,
    .result_bytes = sizeof(mapi_cooking_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Cook>,
    .arguments = {MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT},
    .tick = mapi::functions::tick<mapi::functions::Cook>,
    .drops = mapi::functions::drops_of_unread<mapi::functions::Cook>,
    .transform = &mapi::functions::kTransform,
};
