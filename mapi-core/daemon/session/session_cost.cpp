// SPDX-License-Identifier: MIT
// Session cost: what the functions that a device's driver runs cost a packet.  Takes seconds, of
// this client's thread only.
#include <mapi/driver_cost.h>

#include "daemon/session/session.hpp"
#include "engine/error.hpp"

namespace mapi::daemon
{
namespace
{
constexpr uint32_t kLeastMs = 10;
constexpr uint32_t kMostMs = 10000;

void show(const mapi_cost_runs &runs, ipc::CostOfRuns &message)
{
    message.set_runs(runs.runs);
    message.set_run_ns(runs.run_ns);
    message.set_empty_runs(runs.empty_runs);
    message.set_empty_run_ns(runs.empty_run_ns);
    message.set_missing(runs.missing);
}

void show(const mapi_cost_net &net, ipc::NetCost &message)
{
    message.set_packets(net.packets);
    message.set_runs(net.runs);
    message.set_program_ns(net.program_ns);
    message.set_empty_ns(net.empty_ns);
    message.set_net_ns(net.net_ns);
    message.set_net_p10_ns(net.net_p10_ns);
    message.set_net_p90_ns(net.net_p90_ns);
    message.set_missing(net.missing);
}

void show(const mapi_driver_cost &cost, ipc::Cost &message)
{
    message.set_mode(cost.mode);
    message.set_functions(cost.functions);
    message.set_instructions(cost.instructions);
    message.set_code_bytes(cost.code_bytes);
    show(cost.live, *message.mutable_live());
    show(cost.net, *message.mutable_net());
}
} // namespace

void Session::measure_cost(const ipc::MeasureCost &call, ipc::Reply &reply) const
{
    if (call.duration_ms() < kLeastMs || call.duration_ms() > kMostMs)
        throw Error(MFUNCT_INVALID_ARGUMENT_2,
                    "a cost is measured for " + std::to_string(kLeastMs) + " to " +
                        std::to_string(kMostMs) + " ms, not " + std::to_string(call.duration_ms()));
    check_access(call.device());
    const auto device = service_.devices.find_opened(call.device());
    if (!device->has_cost())
        throw Error(MFUNCT_NOT_SUPPORTED, "device " + call.device() + ": its driver " +
                                              device->settings().driver +
                                              " runs no functions whose cost it could measure");
    const auto turn =
        service_.cost_turns.begin(peer_, std::chrono::milliseconds(call.duration_ms()));
    mapi_driver_cost cost = {};
    cost.struct_size = sizeof(cost);
    cost.duration_ms = call.duration_ms();
    cost.stop = stop_descriptor_;
    device->measure_cost(cost);
    show(cost, *reply.mutable_cost());
    reply.mutable_cost()->set_device(device->settings().name);
    reply.mutable_cost()->set_place(device->offload_place());
}
} // namespace mapi::daemon
