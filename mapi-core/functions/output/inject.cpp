// SPDX-License-Identifier: MIT
// INJECT: packets -> out of a network interface, unchanged.  Lets every packet pass.
#include <array>
#include <atomic>
#include <bit>

#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/refuse.hpp"
#include "functions/output/ethernet_sender.hpp"
#include "links/link_type.hpp"

namespace mapi::functions
{
namespace
{
class Injector
{
public:
    Injector(const char *interface, mapi_inject_t *result) : sender_(interface), result_(result) {}

    uint32_t interface_index() const { return sender_.interface_index(); }

    void run(const mapi_batch &batch, uint64_t mask)
    {
        std::array<const mapi_packet *, MAPI_BATCH_MAX> whole;
        size_t count = 0;
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            const mapi_packet &packet = batch.packets[std::countr_zero(rest)];
            if (packet.link_type != links::kEthernet)
                ++result_->other_links;
            else if (packet.caplen < packet.wire_len)
                ++result_->cut;
            else
                whole[count++] = &packet;
        }
        take(sender_.send({whole.data(), count}));
    }

    void drops(mapi_function_drops *drops) const
    {
        drops->buffer_full = no_room_.load(std::memory_order_relaxed);
        drops->link_type = other_links_.load(std::memory_order_relaxed);
        drops->not_written = not_sent_.load(std::memory_order_relaxed);
    }

private:
    void take(const EthernetSender::Outcome &outcome)
    {
        result_->sent += outcome.sent;
        result_->no_room += outcome.no_room;
        result_->refused += outcome.refused;
        if (outcome.refused_errno)
            result_->refused_errno = uint64_t(outcome.refused_errno);
        no_room_.store(result_->no_room, std::memory_order_relaxed);
        other_links_.store(result_->other_links, std::memory_order_relaxed);
        not_sent_.store(result_->cut + result_->refused, std::memory_order_relaxed);
    }

    EthernetSender sender_;
    mapi_inject_t *const result_;
    std::atomic<uint64_t> no_room_ = 0, other_links_ = 0,
                          not_sent_ = 0; // copies of the result for other threads
};

int create(const mapi_function_setup *setup, void **instance)
{
    const char *interface = setup->arguments[0].text;
    Injector *injector = nullptr;
    try {
        injector = new Injector(interface, static_cast<mapi_inject_t *>(setup->result));
    } catch (const std::exception &error) {
        return refuse(setup, PCAP_OPEN_ERR, error.what());
    }
    if (setup->interface_index != 0 && setup->interface_index == injector->interface_index()) {
        const std::string text = std::string(interface) +
                                 ": the flow's device reads this interface: each packet would "
                                 "be sent back to its source";
        delete injector;
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, text);
    }
    *instance = injector;
    return 0;
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    static_cast<Injector *>(instance)->run(*batch, mask);
    return mask;
}

void drops(const void *instance, mapi_function_drops *drops)
{
    static_cast<const Injector *>(instance)->drops(drops);
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_inject = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "INJECT",
    .description = "sends packets out of a network interface",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_SENDS,
    .result_bytes = sizeof(mapi_inject_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Injector>,
    .arguments = {MAPI_ARGUMENT_STRING},
    .drops = mapi::functions::drops,
};
