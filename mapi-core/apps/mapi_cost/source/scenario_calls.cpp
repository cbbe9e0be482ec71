// SPDX-License-Identifier: MIT
// scenario_calls: the functions of a scenario or of a flow of --flow -> calls with their arguments.
#include "scenario_calls.hpp"

#include <mapi/mapi.h>

namespace mapi_cost
{
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
