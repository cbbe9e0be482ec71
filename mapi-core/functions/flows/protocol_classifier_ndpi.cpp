// SPDX-License-Identifier: MIT
// Protocol classifier: nDPI 4.2.  See ndpi_api.h and its example ndpiReader.
#include "functions/flows/protocol_classifier.hpp"

#include <cstring>
#include <mutex>
#include <stdexcept>

#include <netinet/in.h>

#include <ndpi/ndpi_api.h>

namespace mapi::functions
{
namespace
{
// As in ndpiReader: a flow still unknown after that many packets stays unknown.
constexpr unsigned kTcpPackets = 80;
constexpr unsigned kOtherPackets = 24;
constexpr size_t kPacketBytesMax = UINT16_MAX; // limit of nDPI's type

constexpr uint64_t kModuleBytes = uint64_t(8) << 20; // nDPI 4.2 allocates 5.5 MiB
constexpr uint64_t kFlowTextBytes =
    256; // average of the names and certificates that a flow points to

std::mutex opening; // nDPI modules must not be created in parallel
} // namespace

struct ProtocolClassifier::Module {
    ndpi_detection_module_struct *ndpi = nullptr;

    Module()
    {
        const std::lock_guard lock(opening);
        ndpi = ndpi_init_detection_module(ndpi_no_prefs);
        if (!ndpi)
            throw std::runtime_error("nDPI: out of memory");
        NDPI_PROTOCOL_BITMASK all;
        NDPI_BITMASK_SET_ALL(all);
        ndpi_set_protocol_detection_bitmask2(ndpi, &all);
        ndpi_finalize_initialization(ndpi);
    }
    ~Module()
    {
        const std::lock_guard lock(opening);
        ndpi_exit_detection_module(ndpi);
    }
    Module(const Module &) = delete;
    Module &operator=(const Module &) = delete;
};

ProtocolClassifier::ProtocolClassifier() : module_(std::make_unique<Module>())
{
    const unsigned count = ndpi_get_num_supported_protocols(module_->ndpi);
    for (unsigned id = 0; id < count; ++id)
        names_.emplace_back(ndpi_get_proto_name(module_->ndpi, uint16_t(id)));
}

ProtocolClassifier::~ProtocolClassifier() = default;

uint64_t ProtocolClassifier::memory_bytes(size_t flows)
{
    return kModuleBytes + flows * (SIZEOF_FLOW_STRUCT + kFlowTextBytes);
}

void ProtocolClassifier::Flow::Deleter::operator()(void *state) const
{
    ndpi_free_flow(static_cast<ndpi_flow_struct *>(state));
}

void ProtocolClassifier::look(Flow &flow, std::span<const uint8_t> packet, uint8_t ip_protocol,
                              uint64_t time_ns)
{
    constexpr uint64_t kNsPerMs = 1000000;
    if (flow.is_decided || packet.size() > kPacketBytesMax)
        return;
    if (!flow.state) {
        flow.state.reset(ndpi_flow_malloc(SIZEOF_FLOW_STRUCT));
        if (!flow.state) {
            flow.is_decided = true; // out of memory: report it as unknown
            return;
        }
        memset(flow.state.get(), 0, SIZEOF_FLOW_STRUCT);
    }
    auto *state = static_cast<ndpi_flow_struct *>(flow.state.get());
    ndpi_protocol found = ndpi_detection_process_packet(
        module_->ndpi, state, packet.data(), uint16_t(packet.size()), time_ns / kNsPerMs);
    ++flow.packets;
    const bool is_last = flow.packets >= (ip_protocol == IPPROTO_TCP ? kTcpPackets : kOtherPackets);
    const bool is_known = found.app_protocol != NDPI_PROTOCOL_UNKNOWN;
    if (is_last && !is_known) {
        uint8_t was_guessed = 0; // guesses are not used: a port proves nothing
        found = ndpi_detection_giveup(module_->ndpi, state, 0, &was_guessed);
    }
    flow.master = found.master_protocol;
    flow.application = found.app_protocol;
    flow.is_decided =
        is_last || (is_known && !ndpi_extra_dissection_possible(module_->ndpi, state));
    if (flow.is_decided)
        flow.state.reset();
}
} // namespace mapi::functions
