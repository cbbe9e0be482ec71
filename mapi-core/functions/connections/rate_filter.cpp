// SPDX-License-Identifier: MIT
// RATE_FILTER: packets -> those that a limit for each address lets pass.
#include <atomic>
#include <bit>
#include <new>

#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/connections/rate_table.hpp"
#include "functions/connections/words.hpp"
#include "headers/headers.hpp"

namespace mapi::functions
{
namespace
{
using connections::RateRoom;
using connections::RateRule;
using connections::RateTable;

constexpr uint64_t kNsPerSecond = 1000000000;

class RateFilter
{
public:
    RateFilter(RateRule rule, connections::RateRoom &room, mapi_rate_filter_t *result)
        : rule_(rule), result_(*result), table_(room)
    {
    }

    uint64_t run(const mapi_batch &batch, uint64_t mask)
    {
        uint64_t passed = 0;
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            if (takes(batch.packets[std::countr_zero(rest)]))
                passed |= rest & -rest;
        }
        result_ = {table_.size(), table_.evicted()};
        return passed;
    }

    void reset()
    {
        table_.clear();
        now_s_ = 0;
        result_ = {};
    }

    uint64_t time_jumps() const { return time_jumps_.load(std::memory_order_relaxed); }

private:
    // Packets that are not IP share one address.
    bool takes(const mapi_packet &packet)
    {
        const headers::Headers found = headers::parse(packet);
        RateTable::Address address{};
        if (const headers::IpLayer *const ip = found.innermost()) {
            const auto bytes = rule_.is_by_source ? headers::source_of(packet, *ip)
                                                  : headers::destination_of(packet, *ip);
            std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
            address.version = ip->version;
        }
        const uint64_t now_s = advance(packet.timestamp_ns / kNsPerSecond); // may clear the table
        return table_.touch(address).take(rule_, now_s);
    }

    // Time does not go back by a little: packets of several queues may be out of order.  After a
    // larger step back, as when a clock is set, all intervals begin again.
    uint64_t advance(uint64_t packet_s)
    {
        if (packet_s + rule_.seconds < now_s_) {
            time_jumps_.fetch_add(1, std::memory_order_relaxed);
            table_.clear();
            now_s_ = packet_s;
        }
        now_s_ = std::max(now_s_, packet_s);
        return now_s_;
    }

    const RateRule rule_;
    mapi_rate_filter_t &result_;
    RateTable table_;
    uint64_t now_s_ = 0;
    std::atomic<uint64_t> time_jumps_ = 0;
};

const mapi_common_object kRoom = {
    .struct_size = sizeof(mapi_common_object),
    .create = []() -> void * { return new (std::nothrow) RateRoom(); },
    .destroy = [](void *room) { delete static_cast<RateRoom *>(room); },
    .bytes = sizeof(RateRoom) + RateRoom::kAddresses * RateTable::kAddressBytes,
    .watch = nullptr,
};

int create(const mapi_function_setup *setup, void **instance)
{
    if (const int refused =
            reserve_memory(setup, RateTable::kOwnAddresses * RateTable::kAddressBytes))
        return refused;
    auto *const room = common_object<RateRoom>(setup, kRoom);
    if (!room)
        return refuse(setup, MFUNCT_COULD_NOT_APPLY_FUNCT, "out of memory");
    try {
        return create_object<RateFilter>(setup, instance,
                                         connections::read_rate_rule(setup->arguments[0].text),
                                         *room, static_cast<mapi_rate_filter_t *>(setup->result));
    } catch (const connections::TextError &error) {
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, error.what());
    }
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    return static_cast<RateFilter *>(instance)->run(*batch, mask);
}

void drops(const void *instance, mapi_function_drops *drops)
{
    drops->time_jumps = static_cast<const RateFilter *>(instance)->time_jumps();
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_rate_filter = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "RATE_FILTER",
    .description = "passes as many packets of each address as a limit allows",
    .result_bytes = sizeof(mapi_rate_filter_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::RateFilter>,
    .arguments = {MAPI_ARGUMENT_STRING},
    .reset = mapi::functions::reset<mapi::functions::RateFilter>,
    .drops = mapi::functions::drops,
};
