// SPDX-License-Identifier: MIT
// EXPIRED_FLOWS: packet -> flows, each told once it has ended, with all its packets.  Lets every packet pass.
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <string>

#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/expired_flow_ring.hpp"
#include "functions/flow_cache/flow_cache.hpp"
#include "functions/instance.hpp"
#include "functions/ntp_time.hpp"
#include "functions/refuse.hpp"

namespace mapi::functions
{
namespace
{
enum Argument { kReadFlows, kWaitingFlows, kLeastPackets };

constexpr uint32_t kRoom = 262144;               // as many as MAPI 2 has buckets
constexpr FlowTimeouts kTimeouts = {30'000'000'000, 0}; // ns
constexpr int64_t kMostReadFlows = (MAPI_RESULT_BYTES_MAX - sizeof(flows_stat)) / sizeof(flow_data);
constexpr int64_t kMostWaitingFlows = 1 << 20;
constexpr uint32_t kTagBytes = 4; // of a VLAN tag and of an MPLS label

static_assert(sizeof(flow_data) == 64 && sizeof(flows_stat) == 48 && sizeof(flows_stat) % sizeof(uint64_t) == 0);

struct Values {
    uint64_t bytes;
    uint8_t ttl;
};
using Cache = FlowCache<Values>;

// The frame as it would be without tags: two points of a network see the same of it.
uint32_t untagged_bytes(const FlowPacket &packet)
{
    const uint32_t tags = (uint32_t(packet.headers.vlan_tags) + packet.headers.mpls_labels) * kTagBytes;
    return packet.packet.wire_len > tags ? packet.packet.wire_len - tags : 0;
}

class ExpiredFlows
{
    auto on_end()
    {
        return [this](const Cache::Flow &flow, FlowEnd reason) { hand_over(flow, reason); };
    }

public:
    ExpiredFlows(const mapi_function_setup *setup, uint32_t read_flows, uint32_t waiting_flows, uint32_t least_packets)
        : read_flows_(read_flows), least_packets_(least_packets), cache_(kRoom, kTimeouts), ring_(size_t(read_flows) + waiting_flows),
          totals_in_place_(allocate_result<uint64_t>(setup, sizeof(flows_stat) + uint64_t(read_flows) * sizeof(flow_data)))
    {
    }

    void run(const mapi_batch &batch, uint64_t mask)
    {
        for (; mask != 0; mask &= mask - 1)
            take(batch.packets[std::countr_zero(mask)]);
        publish();
    }

    void tick(uint64_t now_ns)
    {
        cache_.advance(now_ns, on_end());
        publish();
    }

    void end()
    {
        cache_.end_all(on_end());
        publish();
    }

    // Readers' threads: what there is, at once; each flow is given once.
    void read(void *result)
    {
        const std::lock_guard lock(reading_);
        auto &stat = *static_cast<flows_stat *>(result);
        auto *flows = reinterpret_cast<flow_data *>(&stat + 1);
        const size_t sent = ring_.take(flows, read_flows_);
        uint32_t totals[kTotals], packets = 0;
        read_totals(totals);
        for (size_t i = 0; i < sent; ++i)
            packets += uint32_t(flows[i].packets_count);
        for (size_t i = 0; i < kTotals; ++i) {
            const uint32_t grown = totals[i] - told_[i];
            told_[i] = totals[i];
            memcpy(reinterpret_cast<char *>(&stat) + i * sizeof(grown), &grown, sizeof(grown));
        }
        stat.sent = uint32_t(sent);
        stat.packets.sent = packets;
    }

    void drops(mapi_function_drops *drops) const
    {
        drops->buffer_full = dropped_.load(std::memory_order_relaxed);
        drops->time_jumps = cache_.time_jumps();
    }

private:
    static constexpr size_t kTotals = sizeof(flows_stat) / sizeof(uint32_t);

    void take(const mapi_packet &bytes)
    {
        const FlowPacket packet(bytes);
        if (!packet.has_flow()) {
            ++totals_.other;
            return;
        }
        Cache::Flow &flow = cache_.add(packet.key(), bytes.timestamp_ns, on_end());
        if (flow.packets == 1) {
            ++totals_.received;
            flow.values.ttl = packet.ttl();
        }
        ++totals_.packets.received;
        flow.values.bytes += untagged_bytes(packet);
    }

    void hand_over(const Cache::Flow &flow, FlowEnd reason)
    {
        const auto packets = uint32_t(flow.packets);
        ++totals_.expired;
        totals_.packets.expired += packets;
        totals_.early += reason == FlowEnd::kNoRoom;
        if (flow.packets < least_packets_) {
            ++totals_.ignored;
            totals_.packets.ignored += packets;
        } else if (!ring_.push(as_result(flow))) {
            ++totals_.dropped;
            totals_.packets.dropped += packets;
            dropped_.fetch_add(1, std::memory_order_relaxed);
        } else {
            ++totals_.sent;
            totals_.packets.sent += packets;
        }
    }

    static flow_data as_result(const Cache::Flow &flow)
    {
        flow_data result{};
        result.timestamp = ntp_time(flow.first_ns);
        result.packets_count = flow.packets;
        result.bytes_count = flow.values.bytes;
        memcpy(&result.saddr, flow.key.source, sizeof(result.saddr));
        memcpy(&result.daddr, flow.key.destination, sizeof(result.daddr));
        result.sport = flow.key.source_port;
        result.dport = flow.key.destination_port;
        result.ptcl = flow.key.protocol;
        result.ttl_pkt1 = flow.values.ttl;
        result.version = flow.key.version;
        return result;
    }

    // For the reader, and for those who refer to the result: of all that came.
    void publish()
    {
        uint64_t words[sizeof(flows_stat) / sizeof(uint64_t)];
        memcpy(words, &totals_, sizeof(totals_));
        for (size_t i = 0; i < std::size(words); ++i)
            mapi_result_set(&totals_in_place_[i], words[i]);
    }

    void read_totals(uint32_t (&totals)[kTotals]) const
    {
        for (size_t i = 0; i < kTotals / 2; ++i) {
            const uint64_t word = __atomic_load_n(&totals_in_place_[i], __ATOMIC_RELAXED);
            memcpy(&totals[2 * i], &word, sizeof(word));
        }
    }

    const uint32_t read_flows_;
    const uint32_t least_packets_;
    Cache cache_;
    ExpiredFlowRing ring_;
    flows_stat totals_{}; // device's thread; they wrap, as differences may
    uint64_t *const totals_in_place_;
    std::atomic<uint64_t> dropped_ = 0;
    std::mutex reading_; // what follows, and the ring's reader
    uint32_t told_[kTotals] = {};
};

int create(const mapi_function_setup *setup, void **instance)
{
    const int64_t read_flows = setup->arguments[kReadFlows].number, waiting_flows = setup->arguments[kWaitingFlows].number,
                  least_packets = setup->arguments[kLeastPackets].number;
    if (read_flows < 1 || read_flows > kMostReadFlows)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, "the flows that one read gives are not within 1 to " + std::to_string(kMostReadFlows));
    if (waiting_flows < 0 || waiting_flows > kMostWaitingFlows)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_2, "the flows that wait beside are not within 0 to " + std::to_string(kMostWaitingFlows));
    if (least_packets < 0)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_3, "the least number of packets is below 0");
    if (const int refused = charge_memory(setup, Cache::memory_bytes(kRoom) + ExpiredFlowRing::memory_bytes(size_t(read_flows + waiting_flows))))
        return refused;
    return create_object<ExpiredFlows>(setup, instance, setup, uint32_t(read_flows), uint32_t(waiting_flows), uint32_t(least_packets));
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    static_cast<ExpiredFlows *>(instance)->run(*batch, mask);
    return mask;
}

void end(void *instance)
{
    static_cast<ExpiredFlows *>(instance)->end();
}

void drops(const void *instance, mapi_function_drops *drops)
{
    static_cast<const ExpiredFlows *>(instance)->drops(drops);
}

void read_result(void *instance, void *result)
{
    static_cast<ExpiredFlows *>(instance)->read(result);
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_expired_flows = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "EXPIRED_FLOWS",
    .description = "flows that have ended, with their packets and bytes",
    .args = "iii",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_RESULT_IN_PLACE,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::ExpiredFlows>,
    .end = mapi::functions::end,
    .drops = mapi::functions::drops,
    .tick = mapi::functions::tick<mapi::functions::ExpiredFlows>,
    .read_result = mapi::functions::read_result,
};
