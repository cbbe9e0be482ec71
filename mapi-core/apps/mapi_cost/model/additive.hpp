// SPDX-License-Identifier: MIT
// additive: measured rows -> a cost for each term, and how far each row is from the sum of its terms.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "additive_fit.hpp"
#include "additive_terms.hpp"

namespace mapi_cost
{
struct Row;

// An interval tells how a scenario repeats, not how the same code fares among other code (layout, caches, fill of the
// batches), and a counted one may be zero.  The figures of 2004 lie this close to their own line.
inline constexpr double kLeastErrorShare = 0.01;
inline constexpr double kLeastError = 0.05;      // three a batch of 64; where the cost itself is nearly zero
inline constexpr double kLeastError2004 = 1;     // printed as whole numbers

struct Observation {
    Scenario scenario;
    TermCounts terms;
    double value = 0;
    double ci95 = 0;
};

enum class Verdict {
    kAgrees,
    kMissed,   // off by more than its error and the model's together
    kUntested, // the other scenarios do not tell what it should cost, or no better than to within that cost
};

const char *verdict_id(Verdict verdict);

struct ModelRow {
    Observation observed;
    double error = 0;              // of the value: its interval, or the least one
    std::optional<Estimate> model; // from the other scenarios
    double residual = 0;           // value - model
    double residual_ci95 = 0;
    Verdict verdict = Verdict::kUntested;
    bool is_in_fit = true;
};

struct ModelTerm {
    Term term;
    std::optional<Estimate> cost; // none: the scenarios do not tell it from others
};

struct AdditiveModel {
    std::vector<ModelTerm> terms; // those that are in any scenario
    std::vector<ModelRow> rows;
    std::vector<std::string> unused; // scenarios with figures, but not in the model since their terms are not known, by id
    std::vector<std::string> without_interval; // the same, since nobody knows how far their cost is to be trusted
    std::uint64_t spare = 0; // scenarios of the fit beyond the terms they tell apart
    bool does_hold = true;   // the scenarios of the fit agree with each other

    const ModelTerm *find(Term term) const;
    const ModelRow *find(const std::string &scenario_id) const;
};

AdditiveModel additive_model(const std::vector<Observation> &observations, double least_error);

// None without a row that can be in it.
struct AdditiveModels {
    std::optional<AdditiveModel> instructions;
    std::optional<AdditiveModel> cycles;
};

AdditiveModels additive_models(const std::vector<Row> &rows);

std::set<Term> terms_in_either(const AdditiveModels &models);

enum class Card { kScampi, kIntel };

// The same fit of the instructions that were printed in 2004.
const AdditiveModel &additive_model_2004(Card card);
} // namespace mapi_cost
