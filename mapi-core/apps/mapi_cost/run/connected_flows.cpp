// SPDX-License-Identifier: MIT
// connected_flows: one load and a device -> running flows and their readers.
#include "connected_flows.hpp"

#include <chrono>
#include <thread>

#include "mapi_cost/source/mapi_handle.hpp"

namespace mapi_cost
{
Readers::Readers(Flow flow, const std::vector<flow_expression::Call> &calls,
                 const std::vector<int> &functions)
{
    flow_.push_back(std::move(flow));
    const int descriptor = this->flow().descriptor();
    for (size_t i = 0; i < calls.size(); ++i) {
        if (calls[i].function == "TO_BUFFER")
            buffers_.push_back({functions[i]});
        else if (mapi_get_poll_descriptor(descriptor, functions[i]) >= 0)
            threads_.emplace_back([descriptor, function = functions[i]] {
                while (mapi_read_results(descriptor, function)) {
                }
            });
    }
}

// Closing the flow ends the threads that wait for its results.
Readers::~Readers()
{
    flow_.clear();
    for (std::thread &thread : threads_)
        thread.join();
}

void Readers::read_copies(bool to_the_end)
{
    for (Buffer &buffer : buffers_) {
        const mapi_function_info_t info = flow().describe(buffer.function);
        // Only packets that the function has finished with; some that reached it may not be in the
        // buffer yet.
        for (const uint64_t there = info.passed_pkts - info.dropped;
             to_the_end || buffer.copies_read < there; ++buffer.copies_read)
            if (!mapi_get_next_pkt(flow().descriptor(), buffer.function))
                break;
    }
}

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
