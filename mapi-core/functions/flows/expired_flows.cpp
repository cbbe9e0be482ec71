// SPDX-License-Identifier: MIT
// EXPIRED_FLOWS: packet -> flows, each reported once it has ended, with all its packets.  Lets
// every packet pass.
#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include <mapi/expiredflowshash.h>
#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/ntp_time.hpp"
#include "functions/common/refuse.hpp"
#include "functions/common/unread_packets.hpp"
#include "functions/flow_cache/flow_cache.hpp"

namespace mapi::functions
{
namespace
{
enum Argument { kReadFlows, kWaitingFlows, kLeastPackets, kKey };

constexpr uint32_t kRoom = 262144;                      // the number of buckets in MAPI 2
constexpr FlowTimeouts kTimeouts = {30'000'000'000, 0}; // ns
constexpr int64_t kMostReadFlows = 65535;
constexpr int64_t kMostWaitingFlows = 1 << 20;
constexpr uint32_t kTagBytes = 4; // of a VLAN tag or an MPLS label

// The counts are contiguous while there are no flows between them.
struct Totals {
    flows_stat stat;
    uint32_t early, other;
};
constexpr size_t kTotalWords = sizeof(Totals) / sizeof(uint64_t);

// A flow on its way to the reader, who gets all first halves, then all second halves.
struct Record {
    flow_data flow;
    mapi_flow_more more;
};

constexpr uint64_t result_bytes(uint64_t flows)
{
    return sizeof(Totals) + flows * sizeof(Record);
}

static_assert(sizeof(flow_data) == 40 && sizeof(flows_stat) == 40 && sizeof(mapi_flow_more) == 40 &&
              sizeof(Record) == 80);
static_assert(sizeof(Totals) % sizeof(uint64_t) == 0 &&
              sizeof(Totals) == sizeof(flows_stat) + offsetof(mapi_flows_more_t, flow));
static_assert(result_bytes(kMostReadFlows) <= MAPI_RESULT_BYTES_MAX);

struct Values {
    uint64_t bytes;
    uint8_t ttl;
};
using Cache = FlowCache<Values>;

// The frame length without tags, which is the same at two points of a network.
uint32_t untagged_bytes(const FlowPacket &packet)
{
    const uint32_t tags =
        (uint32_t(packet.headers.vlan_tags) + packet.headers.mpls_labels) * kTagBytes;
    return packet.packet.wire_len > tags ? packet.packet.wire_len - tags : 0;
}

// What distinguishes flows besides addresses, ports and protocol.
struct Place {
    bool has_vlan = false, has_interface = false;
};

class ExpiredFlows
{
    auto on_end()
    {
        return
            [this](const Cache::Flow &flow, FlowEnd reason, uint64_t) { hand_over(flow, reason); };
    }

public:
    ExpiredFlows(const mapi_function_setup *setup, uint32_t read_flows, uint32_t waiting_flows,
                 uint32_t least_packets, Place place)
        : least_packets_(least_packets), place_(place), cache_(kRoom, kTimeouts),
          ring_(make_ring(setup, {0, 0, 0, read_flows + waiting_flows, sizeof(Record)})),
          totals_in_place_(allocate_result<uint64_t>(setup, result_bytes(read_flows)))
    {
    }

    void run(const mapi_batch &batch, uint64_t mask)
    {
        unread_.note(batch, mask);
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
        unread_.add_drops(drops);
    }

private:
    void take(const mapi_packet &bytes)
    {
        const FlowPacket packet(bytes);
        unread_.note(bytes, packet.headers);
        if (!packet.has_flow()) {
            ++totals_.other;
            return;
        }
        FlowKey key = packet.key();
        key.vlan = place_.has_vlan ? packet.headers.vlan : 0;
        key.interface = place_.has_interface ? bytes.ifindex : 0;
        Cache::Flow &flow = cache_.add(key, bytes.timestamp_ns, on_end());
        if (flow.packets == 1) {
            ++totals_.stat.received;
            flow.values.ttl = packet.ttl();
        }
        ++totals_.stat.packets.received;
        flow.values.bytes += untagged_bytes(packet);
    }

    void hand_over(const Cache::Flow &flow, FlowEnd reason)
    {
        const auto packets = uint32_t(flow.packets);
        ++totals_.stat.expired;
        totals_.stat.packets.expired += packets;
        totals_.early += reason == FlowEnd::kNoRoom;
        if (flow.packets < least_packets_) {
            ++totals_.stat.ignored;
            totals_.stat.packets.ignored += packets;
        } else if (void *record = ring_.calls->reserve(ring_.ring, sizeof(Record))) {
            ++totals_.stat.sent;
            totals_.stat.packets.sent += packets;
            write(*static_cast<Record *>(record), flow);
        } else {
            ++totals_.stat.dropped;
            totals_.stat.packets.dropped += packets;
        }
    }

    void write(Record &record, const Cache::Flow &flow) const
    {
        record = {};
        flow_data &result = record.flow;
        result.timestamp = ntp_time(flow.first_ns);
        result.packets_count = flow.packets;
        result.bytes_count = flow.values.bytes;
        result.sport = flow.key.source_port;
        result.dport = flow.key.destination_port;
        result.ptcl = flow.key.protocol;
        result.ttl_pkt1 = flow.values.ttl;
        result.version = flow.key.version;
        result.has_place = place_.has_vlan || place_.has_interface;
        if (flow.key.version == 4) {
            memcpy(&result.saddr, flow.key.source, sizeof(result.saddr));
            memcpy(&result.daddr, flow.key.destination, sizeof(result.daddr));
        }
        memcpy(record.more.source, flow.key.source, sizeof(record.more.source));
        memcpy(record.more.destination, flow.key.destination, sizeof(record.more.destination));
        record.more.vlan = flow.key.vlan;
        record.more.interface = flow.key.interface;
    }

    // Publishes the totals for the reader and for functions that refer to the result.  Totals go
    // first, so that a flow is counted before it can be seen.
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
    Cache cache_;
    const Ring ring_;
    Totals totals_{}; // device's thread; they wrap, which differences tolerate
    uint64_t *const totals_in_place_;
    UnreadPackets unread_;
};

// Parses element names, spelled as in FLOW_REPORT.  Returns false if one is unknown.
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
    const std::string key = setup->argument_count > kKey && setup->arguments[kKey].kind
                                ? setup->arguments[kKey].text
                                : "";
    Place place;
    if (!read_place(key, place))
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_4,
                      "\"" + key + "\" contains a name other than VLAN_TAG and INGRESS");
    const int64_t read_flows = setup->arguments[kReadFlows].number,
                  waiting_flows = setup->arguments[kWaitingFlows].number,
                  least_packets = setup->arguments[kLeastPackets].number;
    if (read_flows < 1 || read_flows > kMostReadFlows)
        return refuse_range(setup, MFUNCT_INVALID_ARGUMENT_1, "the number of flows per read",
                            read_flows, "1 to " + std::to_string(kMostReadFlows));
    if (waiting_flows < 0 || waiting_flows > kMostWaitingFlows)
        return refuse_range(setup, MFUNCT_INVALID_ARGUMENT_2, "the number of further waiting flows",
                            waiting_flows, "0 to " + std::to_string(kMostWaitingFlows));
    if (least_packets < 0)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_3,
                      "the minimum number of packets is negative");
    if (const int refused = reserve_memory(setup, Cache::memory_bytes(kRoom)))
        return refused;
    return create_object<ExpiredFlows>(setup, instance, setup, uint32_t(read_flows),
                                       uint32_t(waiting_flows), uint32_t(least_packets), place);
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

// The growth of the counts since the last read.
Totals read_growth(mapi_reading *reading)
{
    uint32_t totals[2 * kTotalWords], reported[2 * kTotalWords];
    Totals growth;
    memcpy(reported, reading->kept, sizeof(reported));
    for (size_t i = 0; i < kTotalWords; ++i)
        reading->kept[i] = mapi_result_get(&reading->in_place[i]);
    memcpy(totals, reading->kept, sizeof(totals));
    for (size_t i = 0; i < std::size(totals); ++i)
        totals[i] -= reported[i];
    memcpy(&growth, totals, sizeof(growth));
    return growth;
}

// Writes as many waiting flows as there is room for, then the additional part of each flow, and
// then the counts, which include them all.  The result is left unchanged if the sizes reported by
// mapid do not match this function.
void compose_result(mapi_reading *reading, void *result)
{
    if (reading->result_bytes < sizeof(Totals))
        return;
    auto &stat = *static_cast<flows_stat *>(result);
    auto *const flows = reinterpret_cast<flow_data *>(&stat + 1);
    const uint64_t room = (reading->result_bytes - sizeof(Totals)) / sizeof(Record);
    auto *const more =
        reinterpret_cast<mapi_flow_more *>(static_cast<uint8_t *>(result) + reading->result_bytes) -
        room; // until their number is known
    uint32_t sent = 0, packets = 0, bytes = 0;
    for (const void *next;
         sent < room && (next = reading->next_record(reading, &bytes)) && bytes == sizeof(Record);
         ++sent) {
        const auto &record = *static_cast<const Record *>(next);
        flows[sent] = record.flow;
        more[sent] = record.more;
        packets += uint32_t(record.flow.packets_count);
    }
    const Totals growth = read_growth(reading);
    const uint32_t counts[] = {growth.early, growth.other};
    auto *const behind = reinterpret_cast<uint8_t *>(flows + sent);
    memmove(behind + sizeof(counts), more, sent * sizeof(*more));
    memcpy(behind, counts, sizeof(counts));
    stat = growth.stat;
    stat.sent = sent;
    stat.packets.sent = packets;
}

constexpr mapi_function_ending kEnding = {
    .struct_size = sizeof(mapi_function_ending),
    .end = end,
};

constexpr mapi_function_result kResult = {
    .struct_size = sizeof(mapi_function_result),
    .kept_words = kTotalWords,
    .compose = compose_result,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_expired_flows = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "EXPIRED_FLOWS",
    .description = "flows that have ended, with their packet and byte counts",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_RESULT_IN_PLACE,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::ExpiredFlows>,
    .arguments = {MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT,
                  MAPI_OPTIONAL_COUNTED | MAPI_ARGUMENT_STRING},
    .tick = mapi::functions::tick<mapi::functions::ExpiredFlows>,
    .drops = mapi::functions::drops,
    .ending = &mapi::functions::kEnding,
    .result = &mapi::functions::kResult,
};
