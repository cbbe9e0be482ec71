// SPDX-License-Identifier: MIT
// EXPIRED_FLOWS: packet -> flows, each told once it has ended, with all its packets.  Lets every packet pass.
#include <bit>
#include <cstring>
#include <string>
#include <string_view>

#include <mapi/expiredflowshash.h>
#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/flow_cache/flow_cache.hpp"
#include "functions/instance.hpp"
#include "functions/ntp_time.hpp"
#include "functions/refuse.hpp"
#include "functions/unknown_links.hpp"

namespace mapi::functions
{
namespace
{
enum Argument { kReadFlows, kWaitingFlows, kLeastPackets, kKey };

constexpr uint32_t kRoom = 262144;               // as many as MAPI 2 has buckets
constexpr FlowTimeouts kTimeouts = {30'000'000'000, 0}; // ns
constexpr int64_t kMostReadFlows = (MAPI_RESULT_BYTES_MAX - sizeof(flows_stat)) / sizeof(flow_data);
constexpr int64_t kMostReadFlowsWithPlace = (MAPI_RESULT_BYTES_MAX - sizeof(flows_stat)) / (sizeof(flow_data) + sizeof(mapi_flow_place));
constexpr int64_t kMostWaitingFlows = 1 << 20;
constexpr uint32_t kTagBytes = 4; // of a VLAN tag and of an MPLS label
constexpr size_t kTotalWords = sizeof(flows_stat) / sizeof(uint64_t);

static_assert(sizeof(flow_data) == 64 && sizeof(mapi_flow_place) == 8 && sizeof(flows_stat) == 48 && sizeof(flows_stat) % sizeof(uint64_t) == 0);

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

// What tells flows apart beside addresses, ports and protocol.
struct Place {
    bool has_vlan = false, has_interface = false;

    uint32_t bytes() const { return has_vlan || has_interface ? sizeof(mapi_flow_place) : 0; }
};

class ExpiredFlows
{
    auto on_end()
    {
        return [this](const Cache::Flow &flow, FlowEnd reason, uint64_t) { hand_over(flow, reason); };
    }

public:
    ExpiredFlows(const mapi_function_setup *setup, uint32_t read_flows, uint32_t waiting_flows, uint32_t least_packets, Place place)
        : least_packets_(least_packets), place_(place), record_bytes_(sizeof(flow_data) + place.bytes()), cache_(kRoom, kTimeouts),
          ring_(make_ring(setup, {0, 0, 0, read_flows + waiting_flows, record_bytes_})),
          totals_in_place_(allocate_result<uint64_t>(setup, sizeof(flows_stat) + uint64_t(read_flows) * record_bytes_))
    {
    }

    void run(const mapi_batch &batch, uint64_t mask)
    {
        unknown_links_.note(batch, mask);
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

    void drops(mapi_function_drops *drops) const
    {
        drops->time_jumps = cache_.time_jumps();
        unknown_links_.add_drops(drops);
    }

private:
    void take(const mapi_packet &bytes)
    {
        const FlowPacket packet(bytes);
        if (!packet.has_flow()) {
            ++totals_.other;
            return;
        }
        FlowKey key = packet.key();
        key.vlan = place_.has_vlan ? packet.headers.vlan : 0;
        key.interface = place_.has_interface ? bytes.ifindex : 0;
        Cache::Flow &flow = cache_.add(key, bytes.timestamp_ns, on_end());
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
        } else if (void *record = ring_.calls->reserve(ring_.ring, record_bytes_)) {
            ++totals_.sent;
            totals_.packets.sent += packets;
            write(*static_cast<flow_data *>(record), flow);
        } else {
            ++totals_.dropped;
            totals_.packets.dropped += packets;
        }
    }

    void write(flow_data &result, const Cache::Flow &flow) const
    {
        result = {};
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
        if ((result.place_bytes = uint8_t(place_.bytes())))
            *reinterpret_cast<mapi_flow_place *>(&result + 1) = {flow.key.vlan, flow.key.interface, 0};
    }

    // For the reader, and for those who refer to the result: of all that came.  First the totals: who sees a flow finds it counted.
    void publish()
    {
        uint64_t words[kTotalWords];
        memcpy(words, &totals_, sizeof(totals_));
        for (size_t i = 0; i < kTotalWords; ++i)
            mapi_result_set(&totals_in_place_[i], words[i]);
        ring_.calls->publish(ring_.ring);
    }

    const uint32_t least_packets_;
    const Place place_;
    const uint32_t record_bytes_;
    Cache cache_;
    const Ring ring_;
    flows_stat totals_{}; // device's thread; they wrap, as differences may
    uint64_t *const totals_in_place_;
    UnknownLinks unknown_links_;
};

// Names of elements, as FLOW_REPORT has them.  False: one is none.
bool read_place(std::string_view names, Place &place)
{
    constexpr std::string_view kBetween = " \t,%";
    for (size_t at = names.find_first_not_of(kBetween); at != std::string_view::npos;) {
        const size_t end = std::min(names.find_first_of(kBetween, at), names.size());
        const std::string_view name = names.substr(at, end - at);
        if (name == "VLAN_TAG" || name == "vlanId")
            place.has_vlan = true;
        else if (name == "INGRESS" || name == "ingressInterface")
            place.has_interface = true;
        else
            return false;
        at = names.find_first_not_of(kBetween, end);
    }
    return true;
}

int create(const mapi_function_setup *setup, void **instance)
{
    const std::string key = setup->argument_count > kKey && setup->arguments[kKey].kind ? setup->arguments[kKey].text : "";
    Place place;
    if (!read_place(key, place))
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_4, "\"" + key + "\" has a name other than VLAN_TAG and INGRESS");
    const int64_t most_read_flows = place.bytes() ? kMostReadFlowsWithPlace : kMostReadFlows;
    const int64_t read_flows = setup->arguments[kReadFlows].number, waiting_flows = setup->arguments[kWaitingFlows].number,
                  least_packets = setup->arguments[kLeastPackets].number;
    if (read_flows < 1 || read_flows > most_read_flows)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, "the number of flows of one read is not within 1 to " + std::to_string(most_read_flows));
    if (waiting_flows < 0 || waiting_flows > kMostWaitingFlows)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_2, "the flows that wait beside are not within 0 to " + std::to_string(kMostWaitingFlows));
    if (least_packets < 0)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_3, "the least number of packets is below 0");
    if (const int refused = charge_memory(setup, Cache::memory_bytes(kRoom)))
        return refused;
    return create_object<ExpiredFlows>(setup, instance, setup, uint32_t(read_flows), uint32_t(waiting_flows), uint32_t(least_packets), place);
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

// What the counts have grown by since the last read.
flows_stat read_growth(mapi_reading *reading)
{
    uint32_t totals[2 * kTotalWords], told[2 * kTotalWords];
    flows_stat growth;
    memcpy(told, reading->kept, sizeof(told));
    for (size_t i = 0; i < kTotalWords; ++i)
        reading->kept[i] = mapi_result_get(&reading->in_place[i]);
    memcpy(totals, reading->kept, sizeof(totals));
    for (size_t i = 0; i < std::size(totals); ++i)
        totals[i] -= told[i];
    memcpy(&growth, totals, sizeof(growth));
    return growth;
}

// The flows that wait, as many as there is room for; then the counts, which have them all.
void compose_result(mapi_reading *reading, void *result)
{
    auto &stat = *static_cast<flows_stat *>(result);
    auto *at = reinterpret_cast<uint8_t *>(&stat + 1);
    const uint8_t *const end = static_cast<uint8_t *>(result) + reading->result_bytes;
    uint32_t sent = 0, packets = 0, bytes = sizeof(flow_data); // all records are as long as the first
    const void *record;
    for (; bytes <= size_t(end - at) && (record = reading->next_record(reading, &bytes)); ++sent) {
        memcpy(at, record, bytes);
        packets += uint32_t(static_cast<const flow_data *>(record)->packets_count);
        at += bytes;
    }
    stat = read_growth(reading);
    stat.sent = sent;
    stat.packets.sent = packets;
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_expired_flows = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "EXPIRED_FLOWS",
    .description = "flows that have ended, with their packets and bytes",
    .args = "iii??s",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_RESULT_IN_PLACE,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::ExpiredFlows>,
    .end = mapi::functions::end,
    .drops = mapi::functions::drops,
    .tick = mapi::functions::tick<mapi::functions::ExpiredFlows>,
    .kept_words = mapi::functions::kTotalWords,
    .compose_result = mapi::functions::compose_result,
};
