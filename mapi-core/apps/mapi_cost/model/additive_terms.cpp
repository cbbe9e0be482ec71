// SPDX-License-Identifier: MIT
// additive_terms: scenario -> its terms.
#include "additive_terms.hpp"

#include <array>

namespace mapi_cost
{
namespace
{
struct Words {
    const char *id;
    const char *name;
};

constexpr std::array<Words, 12> kWords = {{
    {"base", "base: a packet, no function"},
    {"counter", "COUNTER"},
    {"filter", "BPF_FILTER"},
    {"sample", "SAMPLE_PACKETS"},
    {"buffer", "TO_BUFFER"},
    {"buffer-byte", "TO_BUFFER, each byte copied"},
    {"search", "STR_SEARCH"},
    {"search-byte", "STR_SEARCH, each byte searched"},
    {"flow", "further flow"},
    {"known-flow", "further flow, known functions"},
    {"known-filter", "further flow, known BPF_FILTER"},
    {"known-search", "further flow, known STR_SEARCH"},
}};

// False if the passage does not show how far a search went.
bool add_function(TermCounts &terms, Function function, double times, const Scenario &scenario,
                  const Passage &passage)
{
    switch (function) {
    case Function::kCounter: terms[Term::kCounter] += times; return true;
    case Function::kFilter: terms[Term::kFilter] += times; return true;
    case Function::kSample:
    case Function::kSampleAll: terms[Term::kSample] += times; return true;
    case Function::kBuffer:
        terms[Term::kBuffer] += times;
        if (passage.bytes.captured)
            terms[Term::kBufferByte] += times * *passage.bytes.captured;
        return true;
    case Function::kSearchAbsent:
    case Function::kSearchText: break;
    }
    const bool reads_all = function == Function::kSearchAbsent;
    if (scenario.frame_bytes == 0 || (!reads_all && !passage.bytes.searched))
        return false;
    terms[Term::kSearch] += times;
    terms[Term::kSearchByte] +=
        times * (reads_all ? scenario.frame_bytes : *passage.bytes.searched);
    return true;
}

// The term of a further flow with known functions, or nullopt if the engine does not share them.
std::optional<Term> known_flow(const Scenario &scenario, Engine engine)
{
    const Function function = scenario.functions.front();
    if (scenario.quantity != Quantity::kFurtherSame || function == Function::kBuffer)
        return std::nullopt;
    if (engine == Engine::kThis)
        return Term::kKnownFlow;
    if (function == Function::kCounter)
        return std::nullopt;
    return function == Function::kFilter ? Term::kKnownFilter : Term::kKnownSearch;
}
} // namespace

const char *term_name(Term term)
{
    return kWords[std::size_t(term)].name;
}

const char *term_id(Term term)
{
    return kWords[std::size_t(term)].id;
}

TermCounts terms_of(const Scenario &scenario, const Passage &passage, Engine engine)
{
    if (scenario.is_call() || passage.reached.size() != scenario.functions.size())
        return {};
    if (scenario.is_further()) {
        if (const auto known = known_flow(scenario, engine))
            return {{*known, 1}};
    }
    TermCounts terms = {{scenario.is_further() ? Term::kFlow : Term::kBase, 1}};
    for (std::size_t i = 0; i < scenario.functions.size(); ++i)
        if (passage.reached[i] > 0 &&
            !add_function(terms, scenario.functions[i], passage.reached[i], scenario, passage))
            return {};
    return terms;
}
} // namespace mapi_cost
