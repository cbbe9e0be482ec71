// SPDX-License-Identifier: MIT
// additive_terms: scenario -> the cost terms it contains, and how often each.
#pragma once

#include <map>
#include <vector>

#include "mapi_cost/source/workload.hpp"

namespace mapi_cost
{
enum class Term {
    kBase, // a packet through one flow without functions
    kCounter,
    kFilter,
    kSample,
    kBuffer,      // a packet of zero bytes
    kBufferByte,  // each byte copied
    kSearch,      // a packet of zero bytes
    kSearchByte,  // each byte that the search reads
    kFlow,        // a further flow, without its functions
    kKnownFlow,   // a further flow whose functions other flows already have
    kKnownFilter, // in the engine of 2004, where the cost differed between functions
    kKnownSearch,
};

// For display; JSON and CSV use the id.
const char *term_name(Term term);
const char *term_id(Term term);

// This engine runs a function that several flows have once per packet, including counters.  The one
// of 2004 looked up filters and searches, and ran each counter.
enum class Engine { kThis, k2004 };

// How often each term occurs in a packet's cost.
using TermCounts = std::map<Term, double>;

// What the terms of a scenario depend on in addition to its functions.
struct Passage {
    std::vector<double>
        reached; // by position in the chain: share of the packets that the function saw
    MeanBytes bytes;
};

// Empty for a call, and if the passage has too little information.
TermCounts terms_of(const Scenario &scenario, const Passage &passage, Engine engine);
} // namespace mapi_cost
