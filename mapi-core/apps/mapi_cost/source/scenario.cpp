// SPDX-License-Identifier: MIT
// scenario: the rows of D3.4 (2004), Tables 2 to 4, as data; flows of --flow; their calls.
#include "scenario.hpp"

#include <algorithm>

#include <mapi/mapi.h>

#include "flow_expression/read_calls.hpp"

namespace mapi_cost
{
namespace
{
using F = Function;
constexpr auto kWhole = Traffic::kWhole;
constexpr auto kMade = Traffic::kMade;
constexpr auto kPacket = Quantity::kPacket;
constexpr auto kSame = Quantity::kFurtherSame;
constexpr auto kDifferent = Quantity::kFurtherDifferent;
constexpr auto kNone = std::nullopt;

Scenario search(unsigned frame_bytes, PaperFigures paper)
{
    return {"search-" + std::to_string(frame_bytes),
            2,
            "STR_SEARCH",
            frame_bytes,
            kMade,
            kPacket,
            {F::kSearchAbsent},
            paper};
}
} // namespace

// clang-format off
const std::vector<Scenario> &all_scenarios()
{
    static const std::vector<Scenario> scenarios = {
        // id, table, name, frame bytes, traffic, quantity, functions, {SCAMPI instructions, cycles, Intel instructions, cycles}
        {"none",          2, "no function",            0, kWhole, kPacket, {},              {321, 1500, 318, 900}},
        {"counter",       2, "COUNTER",                0, kWhole, kPacket, {F::kCounter},   {321, 1500, 371, 700}},
        {"filter",        2, "BPF_FILTER",             0, kWhole, kPacket, {F::kFilter},    {601, 2000, 490, 2800}},
        {"sample",        2, "SAMPLE_PACKETS",         0, kWhole, kPacket, {F::kSample},    {379, 800, 376, 3700}},
        {"buffer",        2, "TO_BUFFER",              0, kWhole, kPacket, {F::kBuffer},    {537, 8800, 8316, 14700}},
        {"filter+buffer", 2, "BPF_FILTER + TO_BUFFER", 0, Traffic::kMatching, kPacket, {F::kFilter, F::kBuffer}, {817, 11900, 8491, 15500}},
        {"five",          2, "COUNTER + BPF_FILTER + SAMPLE_PACKETS + STR_SEARCH + TO_BUFFER", 1500, Traffic::kMadeMatching, kPacket,
         {F::kCounter, F::kFilter, F::kSampleAll, F::kSearchText, F::kBuffer}, {18850, 26500, 8541, 3500}},
        search(64, {1393, 3900, 1388, 2900}),
        search(128, {2149, 3400, 2144, 2800}),
        search(256, {3697, 4400, 3692, 3800}),
        search(512, {6757, 7500, 6752, 6200}),
        search(1024, {12913, 14500, 12908, 11300}),
        search(1500, {18459, 20300, 18452, 15600}),

        {"results",            3, "mapi_read_results: COUNTER",                0, kWhole, Quantity::kReadResults, {F::kCounter}, {7152, kNone, 553, kNone}},
        {"next-packet",        3, "mapi_get_next_pkt: TO_BUFFER",              0, kWhole, Quantity::kNextPacket, {F::kBuffer}, {513, kNone, 1246, kNone}},
        {"filter+next-packet", 3, "mapi_get_next_pkt: BPF_FILTER + TO_BUFFER", 0, Traffic::kMatching, Quantity::kNextPacket,
         {F::kFilter, F::kBuffer}, {522, kNone, 1246, kNone}},

        {"more-counter",          4, "COUNTER",                      0, kWhole, kSame, {F::kCounter}, {21, kNone, 74, kNone}},
        {"more-buffer",           4, "TO_BUFFER",                    0, kWhole, kSame, {F::kBuffer}, {237, kNone, kNone, kNone}},
        {"more-filter-same",      4, "BPF_FILTER, same filter",      0, kWhole, kSame, {F::kFilter}, {86, kNone, 82, kNone}},
        {"more-filter-different", 4, "BPF_FILTER, different filters", 0, kWhole, kDifferent, {F::kFilter}, {274, kNone, 191, kNone}},
        {"more-search-same",      4, "STR_SEARCH, same string",      1500, kMade, kSame, {F::kSearchAbsent}, {95, kNone, 96, kNone}},
        {"more-search-different", 4, "STR_SEARCH, different strings", 1500, kMade, kDifferent, {F::kSearchAbsent}, {18156, kNone, 4295, kNone}},
    };
    return scenarios;
}
// clang-format on

std::vector<Scenario> companions_of(const std::vector<Scenario> &scenarios)
{
    std::vector<Scenario> companions;
    if (std::none_of(scenarios.begin(), scenarios.end(),
                     [](const Scenario &one) { return one.id == "none"; }))
        return companions;
    for (const Scenario &scenario : scenarios) {
        if (scenario.quantity != kPacket || scenario.functions.size() < 2)
            continue;
        for (const F function : scenario.functions) {
            if (function == F::kCounter) // costs the same on any packets
                continue;
            Scenario one = scenario;
            one.id += "/" + std::to_string(companions.size());
            one.table = kModelTable;
            one.functions = {function};
            one.name = calls_of(one, 0, {"", "", {""}}).front().function;
            one.paper = {};
            companions.push_back(std::move(one));
        }
    }
    return companions;
}

bool Scenario::begins_with_filter() const
{
    return own.empty() ? !functions.empty() && functions.front() == Function::kFilter
                       : own.front().function == "BPF_FILTER";
}

PaperFigures net_of_papi(const Scenario &scenario)
{
    PaperFigures figures = scenario.paper;
    if (scenario.is_further())
        return figures;
    const auto subtract = [](std::optional<double> &figure, double papi) {
        if (figure)
            *figure -= papi;
    };
    subtract(figures.scampi_instructions, kPapiInstructions);
    subtract(figures.intel_instructions, kPapiInstructions);
    subtract(figures.scampi_cycles, kPapiCycles);
    subtract(figures.intel_cycles, kPapiCycles);
    return figures;
}

Scenario own_flow(const std::string &text, unsigned number)
{
    Scenario scenario{"flow-" + std::to_string(number),
                      kOwnTable,
                      "",
                      0,
                      Traffic::kWhole,
                      Quantity::kPacket,
                      {},
                      {}};
    scenario.own = flow_expression::read_calls(text);
    for (const Call &call : scenario.own)
        scenario.name += (scenario.name.empty() ? "" : " + ") + call.function;
    return scenario;
}

namespace
{
Call call_of(Function function, unsigned variant, const CallWords &words)
{
    switch (function) {
    case Function::kCounter: return {"PKT_COUNTER"};
    case Function::kFilter:
        return {"BPF_FILTER",
                {variant == 0 ? words.filter : "src port " + std::to_string(2005 + variant)}};
    case Function::kSample: return {"SAMPLE_PACKETS", {"5", "PROBABILISTIC"}};
    case Function::kSampleAll: return {"SAMPLE_PACKETS", {"1", "PERIODIC"}};
    case Function::kSearchAbsent: return {"STR_SEARCH", {words.absent.at(variant), 0, 0}};
    case Function::kSearchText: return {"STR_SEARCH", {words.text, 0, 1500}};
    case Function::kBuffer: break;
    }
    return {"TO_BUFFER", {words.reader_waits ? WAIT : NOWAIT}};
}
} // namespace

std::vector<Call> calls_of(const Scenario &scenario, unsigned variant, const CallWords &words)
{
    std::vector<Call> calls = scenario.own;
    for (const Function function : scenario.functions)
        calls.push_back(call_of(function, variant, words));
    return calls;
}
} // namespace mapi_cost
