// SPDX-License-Identifier: MIT
// PKTSELECT: packet -> passes when the hash of the bytes that do not change on the way is in the
// selected part: the same packets at every observation point (RFC 5475 6.2).
#include <bit>
#include <cstring>
#include <optional>

#include <sys/socket.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/bob_hash.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/invariant_bytes.hpp"
#include "functions/common/ntp_time.hpp"
#include "functions/common/refuse.hpp"
#include "functions/common/result_queue.hpp"
#include "functions/common/unread_packets.hpp"

namespace mapi::functions
{
namespace
{
constexpr int64_t kHashes = int64_t(1) << 32;

struct Selection {
    uint64_t below;         // the hash of a selected packet is less than this
    uint64_t key;           // of both hashes
    uint32_t payload_bytes; // of the hash input
};

uint8_t hop_limit_of(const uint8_t *header, uint8_t version)
{
    return version == 4 ? header[8] : header[7];
}

class PacketSelector
{
public:
    PacketSelector(const mapi_function_setup *setup, const Selection &selection, bool keeps)
        : selection_(selection)
    {
        if (keeps)
            queue_.emplace(setup);
    }

    uint64_t run(const mapi_batch &batch, uint64_t mask)
    {
        uint64_t passed = 0;
        unread_.note(batch, mask);
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
            passed |= is_selected(batch.packets[std::countr_zero(rest)]) ? rest & -rest : 0;
        if (queue_)
            queue_->push(selected_);
        return passed;
    }

    const UnreadPackets &unread() const { return unread_; }

private:
    bool is_selected(const mapi_packet &packet)
    {
        const headers::Headers headers = unread_.parse(packet);
        const headers::IpLayer *const ip = headers.innermost();
        // An unread header may follow, and be readable at another point.
        if (headers.is_lost || !ip || !headers::has_whole_transport(packet, *ip))
            return false;
        const auto input = invariant_bytes_of(packet, *ip, selection_.payload_bytes);
        if (!input) {
            unread_.note_header(packet);
            return false;
        }
        const uint32_t hash = bob_hash(input->bytes(), uint32_t(selection_.key));
        if (hash >= selection_.below)
            return false;
        if (queue_)
            keep(packet, *ip, hash, input->bytes());
        return true;
    }

    void keep(const mapi_packet &packet, const headers::IpLayer &ip, uint32_t hash,
              std::span<const uint8_t> input)
    {
        mapi_selected_t selected{};
        selected.timestamp = ntp_time(packet.timestamp_ns);
        selected.digest = XXH3_64bits_withSeed(input.data(), input.size(), selection_.key);
        selected.hash = hash;
        selected.wire_len = packet.wire_len;
        selected.family = ip.version == 4 ? AF_INET : AF_INET6;
        const auto source = headers::source_of(packet, ip),
                   destination = headers::destination_of(packet, ip);
        memcpy(selected.source, source.data(), source.size());
        memcpy(selected.destination, destination.data(), destination.size());
        if (const auto ports = headers::ports_of(packet, ip)) {
            selected.source_port = ports->source;
            selected.destination_port = ports->destination;
        }
        selected.protocol = ip.protocol;
        selected.hop_limit = hop_limit_of(packet.data + ip.offset, ip.version);
        selected_.push_back(selected);
    }

    const Selection selection_;
    UnreadPackets unread_;
    std::vector<mapi_selected_t> selected_;
    std::optional<ResultQueue<mapi_selected_t>> queue_; // empty: nothing is kept
};

int create(const mapi_function_setup *setup, void **instance)
{
    const int64_t below = setup->arguments[0].number, key = setup->arguments[1].number,
                  payload_bytes = setup->arguments[2].number, keeps = setup->arguments[3].number;
    if (below < 1 || below > kHashes)
        return refuse_range(setup, MFUNCT_INVALID_ARGUMENT_1, "the selected part", below,
                            "1 to 4294967296, of 2^32");
    if (payload_bytes < 0 || payload_bytes > InvariantBytes::kMostPayload)
        return refuse_range(setup, MFUNCT_INVALID_ARGUMENT_3, "bytes of the payload", payload_bytes,
                            "0 to 256");
    if (keeps != 0 && keeps != 1)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_4,
                      "the flag that keeps results is neither 0 nor 1");
    const Selection selection = {uint64_t(below), uint64_t(key), uint32_t(payload_bytes)};
    return create_object<PacketSelector>(setup, instance, setup, selection, keeps != 0);
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    return static_cast<PacketSelector *>(instance)->run(*batch, mask);
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_pktselect = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "PKTSELECT",
    .description = "passes a part of all packets, the same ones at every observation point",
    .flags = MAPI_FUNCTION_RESULTS_IN_RING,
    .result_bytes = sizeof(mapi_selected_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::PacketSelector>,
    .arguments = {MAPI_ARGUMENT_INT64, MAPI_ARGUMENT_INT64, MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT},
    .drops = mapi::functions::drops_of_unread<mapi::functions::PacketSelector>,
};
