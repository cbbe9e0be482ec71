// SPDX-License-Identifier: MIT
// connected_flows: one load and a device -> running flows.
#include "connected_flows.hpp"

#include <chrono>
#include <thread>

#include "interrupt.hpp"

namespace mapi_cost
{
namespace
{
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kWait{20};
constexpr std::chrono::microseconds kBusyReader{50};
} // namespace

ConnectedFlows::ConnectedFlows(const Load &load, const std::string &device)
{
    for (const auto &calls : load.flows) {
        Flow flow(mapi_create_flow(device.c_str()));
        std::vector<int> ids;
        for (const Call &call : calls) {
            ids.push_back(flow.apply(call));
            if (flows_.empty())
                first_.push_back({call.function, ids.back()});
        }
        flow.connect();
        flows_.emplace_back(std::move(flow), calls, ids);
        has_copies_ |= flows_.back().has_copies();
    }
}

bool ConnectedFlows::wait_a_little()
{
    stop_if_interrupted();
    if (!has_copies_)
        return flows_[0].flow().wait(int(kWait.count()));
    bool have_ended = false;
    for (const auto end = Clock::now() + kWait; !have_ended && Clock::now() < end;
         std::this_thread::sleep_for(kBusyReader)) {
        have_ended = flows_[0].flow().wait(0);
        for (Readers &flow : flows_)
            flow.read_copies(have_ended);
    }
    return have_ended;
}

std::vector<Reach> ConnectedFlows::reach() const
{
    std::vector<Reach> reach;
    for (const Function &function : first_) {
        const mapi_function_info_t info = flows_[0].flow().describe(function.id);
        reach.push_back({function.name, info.pkts, info.passed_pkts});
    }
    return reach;
}
} // namespace mapi_cost
