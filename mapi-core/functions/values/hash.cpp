// SPDX-License-Identifier: MIT
// HASH: packet -> uint32 additive hash of the last packet's bytes, starting at a layer.  Lets every
// packet pass.
#include <numeric>
#include <span>

#include <net/ethernet.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/packet_value.hpp"
#include "functions/common/refuse.hpp"
#include "functions/common/unread_packets.hpp"
#include "headers/headers.hpp"

namespace mapi::functions
{
namespace
{
constexpr uint64_t kModulus = 500009; // as in MAPI 2
constexpr uint32_t kArpBytes = 8;

enum Layer { kLink, kNetwork, kTransport, kApplication, kLayers };

using Bytes = std::span<const uint8_t>;

Bytes from(const mapi_packet &packet, uint32_t offset)
{
    return offset < packet.caplen ? Bytes{packet.data + offset, packet.caplen - offset} : Bytes{};
}

Bytes bytes_at(const mapi_packet &packet, Layer layer)
{
    if (layer == kLink)
        return from(packet, 0);
    const headers::Headers headers = headers::parse(packet);
    if (const headers::IpLayer *ip = headers.innermost()) {
        if (layer == kNetwork)
            return {packet.data + ip->offset, ip->end - ip->offset};
        return layer == kTransport ? headers::datagram_of(packet, *ip)
                                   : headers::payload_of(packet, *ip).value_or(Bytes{});
    }
    if (layer == kNetwork)
        return headers.ethertype ? from(packet, headers.network) : Bytes{};
    const bool is_arp = headers.ethertype == ETHERTYPE_ARP || headers.ethertype == ETHERTYPE_REVARP;
    return layer == kTransport && is_arp ? from(packet, headers.network + kArpBytes) : Bytes{};
}

struct Hash {
    uint64_t *result;
    Layer layer;
    UnreadPackets unread_packets = {};

    const UnreadPackets &unread() const { return unread_packets; }

    uint64_t of(const mapi_packet &packet) const
    {
        const Bytes bytes = bytes_at(packet, layer);
        return std::accumulate(bytes.begin(), bytes.end(), uint64_t(bytes.size())) % kModulus;
    }
};

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    auto *const hash = static_cast<Hash *>(instance);
    if (hash->layer != kLink) {
        hash->unread_packets.note(*batch, mask);
        for (uint64_t rest = mask; rest != 0;
             rest &= rest - 1) // also for packets whose value is not requested
            hash->unread_packets.parse(batch->packets[std::countr_zero(rest)]);
    }
    return process_packet_value<Hash>(instance, batch, mask);
}

int create(const mapi_function_setup *setup, void **instance)
{
    const int64_t layer = setup->arguments[0].number;
    if (layer < 0 || layer >= kLayers)
        return refuse_range(setup, MFUNCT_INVALID_ARGUMENT_1, "the layer", layer,
                            "0 link, 1 network, 2 transport, 3 application");
    return create_object<Hash>(setup, instance, static_cast<uint64_t *>(setup->result),
                               Layer(layer));
}

constexpr mapi_function_result kResult = {
    .struct_size = sizeof(mapi_function_result),
    .values = packet_values<Hash>,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_hash = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "HASH",
    .description = "additive hash of the last packet's bytes, starting at a layer",
    .flags = MAPI_FUNCTION_PURE | MAPI_FUNCTION_PASSES_ALL,
    .result_bytes = sizeof(uint32_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Hash>,
    .arguments = {MAPI_ARGUMENT_INT},
    .drops = mapi::functions::drops_of_unread<mapi::functions::Hash>,
    .result = &mapi::functions::kResult,
};
