// SPDX-License-Identifier: MIT
// mapi_flows: flow expressions -> connected flows, and what they counted.
#include "mapi_reader/mapi_flows.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <mapi/mapi.h>

#include "flow_expression/apply_call.hpp"
#include "flow_expression/read_calls.hpp"

namespace mapi_reader
{
namespace
{
constexpr int kMostPackets = 256;
constexpr int kLookMs = 100;

[[noreturn]] void fail()
{
    int number = 0;
    char text[MAPI_ERROR_TEXT_BYTES] = "unknown error";
    mapi_read_error(&number, text);
    throw std::runtime_error(fmt::format("{} (error {})", text, number));
}

int checked(int result)
{
    if (result < 0)
        fail();
    return result;
}

mapi_function_info_t information(int flow, int function)
{
    mapi_function_info_t info = {};
    checked(mapi_get_function_info(flow, function, &info));
    return info;
}
} // namespace

MapiFlows::MapiFlows(std::string device, std::vector<std::string> expressions)
    : device_(std::move(device)), expressions_(std::move(expressions))
{
}

void MapiFlows::connect(size_t count)
{
    while (flows_.size() < std::min(count, expressions_.size())) {
        const std::string &expression = expressions_[flows_.size()];
        Flow flow{checked(mapi_create_flow(device_.c_str()))};
        if (!expression.empty())
            for (const flow_expression::Call &call : flow_expression::read_calls(expression))
                flow.functions.push_back(
                    checked(flow_expression::apply_call(flow.number, call, flow.functions)));
        checked(mapi_connect(flow.number));
        flows_.push_back(flow);
        const int last = flow.functions.empty() ? 0 : flow.functions.back();
        if (!discarding_.joinable() && last && mapi_get_poll_descriptor(flow.number, last) >= 0)
            discarding_ = std::thread([this, flow, last] { discard(flow.number, last); });
    }
}

MapiFlows::~MapiFlows()
{
    is_ending_ = true;
    if (discarding_.joinable())
        discarding_.join();
    for (const Flow &flow : flows_)
        mapi_close_flow(flow.number);
}

void MapiFlows::discard(int flow, int function)
{
    std::array<struct mapipkt *, kMostPackets> packets = {};
    while (!is_ending_) {
        const int count = mapi_get_next_pkts(flow, function, packets.data(), kMostPackets, kLookMs);
        if (count < 0)
            return;
        discarded_ += uint64_t(count);
    }
}

// All flows see all packets of their device.
Counts MapiFlows::counts()
{
    if (flows_.empty())
        return {};
    mapi_stat_t stats = {};
    checked(mapi_stats(device_.c_str(), &stats));
    const Flow &first = flows_.front();
    if (first.functions.empty())
        return {stats.ps_recv, stats.ps_drop};
    if (first.functions.size() == 1 && discarding_.joinable())
        return {discarded_, stats.ps_drop};
    return {information(first.number, first.functions.front()).pkts, stats.ps_drop};
}

uint64_t MapiFlows::matched()
{
    uint64_t sum = 0;
    for (const Flow &flow : flows_)
        if (!flow.functions.empty())
            sum += information(flow.number, flow.functions.back()).pkts;
    return sum;
}

std::string MapiFlows::place()
{
    std::map<std::string, int> places;
    for (const Flow &flow : flows_)
        for (const int function : flow.functions)
            ++places[information(flow.number, function).place];
    if (places.size() == 1)
        return places.begin()->first;
    std::string text;
    for (const auto &[place, count] : places)
        text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", count, place);
    return text;
}
} // namespace mapi_reader
