// SPDX-License-Identifier: MIT
// additive_terms: scenario -> which costs it holds, and how often each.
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
    kBuffer,     // a packet of no bytes
    kBufferByte, // that is copied
    kSearch,     // a packet of no bytes
    kSearchByte, // that the search reads
    kFlow,       // a further flow, besides its functions
    kKnownFlow,  // a further flow whose functions other flows have too
    kKnownFilter, // of the engine of 2004, whose cost differed between functions
    kKnownSearch,
};

// For people; JSON and CSV have the id.
const char *term_name(Term term);
const char *term_id(Term term);

// This engine runs a function that several flows have once a packet, counters too.  That of 2004 looked up filters and
// searches, and ran each counter.
enum class Engine { kThis, k2004 };

// How often each term is in a packet's cost.
using TermCounts = std::map<Term, double>;

// What the terms of a scenario depend on besides its functions.
struct Passage {
    std::vector<double> reached; // by place in the chain: part of the packets that the function saw
    MeanBytes bytes;
};

// Empty for a call, and where the passage tells too little.
TermCounts terms_of(const Scenario &scenario, const Passage &passage, Engine engine);
} // namespace mapi_cost
