// SPDX-License-Identifier: MIT
// HASHSAMP: packet -> passes when the hash of its addresses, protocol and ports is in the sampled
// part: complete flows, the same ones on every machine.
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>

#include <netinet/in.h>
#include <sys/socket.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <mapi/hashsamp.h>
#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/ntp_time.hpp"
#include "functions/common/refuse.hpp"
#include "functions/common/result_queue.hpp"
#include "functions/common/unread_packets.hpp"
#include "headers/headers.hpp"
#include "links/link_type.hpp"

namespace mapi::functions
{
namespace
{
constexpr int64_t kParts = 1024;
constexpr uint32_t kTcpSequence = 4, kTcpFlags = 13;

// The hash input: no padding, the same bytes on every machine.
struct FlowKey {
    uint8_t source[16];
    uint8_t destination[16];
    uint8_t source_port[2];
    uint8_t destination_port[2];
    uint8_t protocol;
    uint8_t version;
};
static_assert(sizeof(FlowKey) == 38);

FlowKey key_of(const mapi_packet &packet, const headers::IpLayer &ip)
{
    FlowKey key{};
    const auto source = headers::source_of(packet, ip),
               destination = headers::destination_of(packet, ip);
    memcpy(key.source, source.data(), source.size());
    memcpy(key.destination, destination.data(), destination.size());
    memcpy(key.source_port, packet.data + ip.transport, 4); // both ports
    key.protocol = ip.protocol;
    key.version = ip.version;
    return key;
}

static_assert(sizeof(struct sample) == 40 &&
              offsetof(struct sample, timestamp) == offsetof(mapi_sample_t, timestamp));

// TCP flags in MAPI 2's numbering.
uint32_t mapi2_flags(uint8_t header_flags)
{
    constexpr uint8_t kFin = 1, kSyn = 2, kRst = 4, kPsh = 8, kAck = 16;
    return (header_flags & kSyn ? TCP_SYN : 0) | (header_flags & kAck ? TCP_ACK : 0) |
           (header_flags & kRst ? TCP_RST : 0) | (header_flags & kFin ? TCP_FIN : 0) |
           (header_flags & kPsh ? TCP_PSH : 0);
}

class HashSampler
{
public:
    HashSampler(const mapi_function_setup *setup, uint64_t part, bool keeps) : part_(part)
    {
        if (keeps)
            queue_.emplace(setup);
    }

    uint64_t run(const mapi_batch &batch, uint64_t mask)
    {
        uint64_t passed = 0;
        unread_.note(batch, mask);
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
            passed |= is_sampled(batch.packets[std::countr_zero(rest)]) ? rest & -rest : 0;
        if (queue_)
            queue_->push(samples_);
        return passed;
    }

    const UnreadPackets &unread() const { return unread_; }
    uint64_t part() const { return part_; }
    bool keeps() const { return queue_.has_value(); }

private:
    bool is_sampled(const mapi_packet &packet)
    {
        const headers::Headers headers = unread_.parse(packet);
        const headers::IpLayer *ip = headers.innermost();
        const auto ports = ip ? headers::ports_of(packet, *ip) : std::nullopt;
        if (!ports || (ip->protocol != IPPROTO_TCP && ip->protocol != IPPROTO_UDP))
            return false;
        const FlowKey key = key_of(packet, *ip);
        if (XXH3_64bits(&key, sizeof(key)) % kParts >= part_)
            return false;
        if (queue_)
            keep(packet, *ip, key, *ports);
        return true;
    }

    void keep(const mapi_packet &packet, const headers::IpLayer &ip, const FlowKey &key,
              headers::Ports ports)
    {
        mapi_sample_t sample{};
        sample.timestamp = ntp_time(packet.timestamp_ns);
        sample.family = ip.version == 4 ? AF_INET : AF_INET6;
        memcpy(sample.source, key.source, sizeof(sample.source));
        memcpy(sample.destination, key.destination, sizeof(sample.destination));
        if (ip.version == 4) {
            memcpy(&sample.ipv4_source, key.source, sizeof(sample.ipv4_source));
            memcpy(&sample.ipv4_destination, key.destination, sizeof(sample.ipv4_destination));
        }
        sample.source_port = ports.source;
        sample.destination_port = ports.destination;
        sample.protocol = ip.protocol;
        const auto datagram = headers::datagram_of(packet, ip);
        if (ip.protocol == IPPROTO_TCP && datagram.size() > kTcpFlags) {
            memcpy(&sample.sequence, &datagram[kTcpSequence], sizeof(sample.sequence));
            sample.sequence = ntohl(sample.sequence);
            sample.tcp_flags = datagram[kTcpFlags];
            sample.mapi2_flags = mapi2_flags(sample.tcp_flags);
        }
        samples_.push_back(sample);
    }

    const uint64_t part_;
    UnreadPackets unread_;
    std::vector<mapi_sample_t> samples_;
    std::optional<ResultQueue<mapi_sample_t>> queue_; // empty: samples are not kept
};

int create(const mapi_function_setup *setup, void **instance)
{
    const int64_t part = setup->arguments[0].number, keeps = setup->arguments[1].number;
    if (part < 1 || part > kParts)
        return refuse_range(setup, MFUNCT_INVALID_ARGUMENT_1, "the sampled part", part,
                            "1 to 1024, of 1024");
    if (keeps != 0 && keeps != 1)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_2,
                      "the flag that keeps samples is neither 0 nor 1");
    return create_object<HashSampler>(setup, instance, setup, uint64_t(part), keeps != 0);
}

int describe(const void *instance, uint16_t link_type, mapi_offload_step *step)
{
    const auto *sampler = static_cast<const HashSampler *>(instance);
    if (sampler->keeps()) {
        step->reason = "its samples are for the program";
        return 0;
    }
    step->kind = MAPI_OFFLOAD_FLOW_HASH;
    step->parts = uint32_t(sampler->part());
    return link_type == links::kEthernet;
}

constexpr mapi_function_offload kOffload = {
    .struct_size = sizeof(mapi_function_offload),
    .describe = describe,
};

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    return static_cast<HashSampler *>(instance)->run(*batch, mask);
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_hashsamp = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "HASHSAMP",
    .description = "passes a part of all flows, chosen by a hash of addresses, protocol and ports",
    .flags = MAPI_FUNCTION_RESULTS_IN_RING,
    .result_bytes = sizeof(mapi_sample_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::HashSampler>,
    .arguments = {MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT},
    .drops = mapi::functions::drops_of_unread<mapi::functions::HashSampler>,
    .offload = &mapi::functions::kOffload,
};
