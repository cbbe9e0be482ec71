// SPDX-License-Identifier: MIT
// additive: measured rows -> the terms that their costs consist of, a cost for each term, and the
// distance of each row from the sum of its terms.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "additive_fit.hpp"
#include "mapi_cost/source/workload.hpp"
#include "row.hpp"

namespace mapi_cost
{
enum class Term {
    kBase, // a packet of a full batch through one flow without functions
    kCounter,
    kFilter,
    kSample,
    kBuffer,
    kSearch,      // a packet of zero bytes
    kSearchByte,  // each byte that the search reads
    kFlow,        // a further flow, without its functions
    kKnownFlow,   // a further flow whose functions other flows already have
    kKnownFilter, // in the engine of 2004, where the cost differed between functions
    kKnownSearch,
    // Of this engine: what a function costs depends on its packets (bytes, misses in the caches),
    // so a row of several functions is compared with each of them on its own packets.
    kFilterPassing, // on packets that pass
    kBufferPassing,
    kFilterMade, // on frames of one size
    kSampleMade,
    kSearchMade,
    kBufferMade,
    kFlowBuffer, // a further flow that shares nothing
    kFlowFilter,
    kFlowSearch,
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
    double batch_share = 1; // batches per packet, compared with full ones
};

// Empty for a call, and if the passage has too little information.
TermCounts terms_of(const Scenario &scenario, const Passage &passage, Engine engine);

// An interval shows how a scenario repeats, not how the same code behaves next to other code
// (layout, caches, fill of the batches), and that of a count may be zero.  The figures of 2004 are
// this close to their own fit.
inline constexpr double kLeastErrorShare = 0.01;
inline constexpr double kLeastError = 0.05;  // about three per batch of 64; for costs near zero
inline constexpr double kLeastError2004 = 1; // published as whole numbers

struct Observation {
    Scenario scenario;
    TermCounts terms;
    double value = 0;
    double ci95 = 0;
    double own_bound =
        0; // part of ci95 that all rows of packets have in common: it only moves base
};

enum class Verdict {
    kAgrees,
    kMissed,   // differs by more than its error and the model's combined
    kUntested, // the other scenarios do not determine its cost, or only with an error larger than
               // the cost
};

const char *verdict_id(Verdict verdict);

struct ModelRow {
    Observation observed;
    double error = 0;              // of the value: its interval, but at least the minimum
    std::optional<Estimate> model; // from the other scenarios
    double residual = 0;           // value - model
    double residual_ci95 = 0;
    Verdict verdict = Verdict::kUntested;
    const char *cause = nullptr; // of a residual beyond the error
    bool is_in_fit = true;
};

struct ModelTerm {
    Term term;
    std::optional<Estimate> cost; // nullopt: the scenarios cannot separate it from other terms
};

struct AdditiveModel {
    std::vector<ModelTerm> terms; // terms that occur in some scenario
    std::vector<ModelRow> rows;
    std::vector<std::string> unused; // ids of scenarios with figures for which there are no terms
    std::vector<std::string> without_interval; // the same, because their cost has no interval
    uint64_t spare = 0;    // scenarios of the fit beyond the number of terms they determine
    bool does_hold = true; // the scenarios of the fit agree with each other

    const ModelTerm *find(Term term) const;
    const ModelRow *find(const std::string &scenario_id) const;
};

AdditiveModel additive_model(const std::vector<Observation> &observations, double least_error);

// Nullopt if no row can be in the model.
struct AdditiveModels {
    std::optional<AdditiveModel> instructions;
    std::optional<AdditiveModel> cycles;
};

AdditiveModels additive_models(std::vector<Row> rows, const std::vector<Row> &companions = {});

std::set<Term> terms_in_either(const AdditiveModels &models);

enum class Card { kScampi, kIntel };

// The same fit of the instructions published in 2004.
const AdditiveModel &additive_model_2004(Card card);
} // namespace mapi_cost
