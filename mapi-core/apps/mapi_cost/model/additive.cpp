// SPDX-License-Identifier: MIT
// additive: scenario -> its terms; rows -> equations -> fit -> models.
#include "additive.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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
    return kWords[size_t(term)].name;
}

const char *term_id(Term term)
{
    return kWords[size_t(term)].id;
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
    for (size_t i = 0; i < scenario.functions.size(); ++i)
        if (passage.reached[i] > 0 &&
            !add_function(terms, scenario.functions[i], passage.reached[i], scenario, passage))
            return {};
    return terms;
}

namespace
{
double error_of(const Observation &observed, double least_error)
{
    return std::max({observed.ci95, kLeastErrorShare * std::fabs(observed.value), least_error});
}

// Scenarios with no or one function define its term.  STR_SEARCH has several sizes, none of which
// defines it alone.
bool is_definition(const Observation &observed)
{
    return observed.scenario.quantity == Quantity::kPacket &&
           observed.scenario.functions.size() <= 1 && !observed.terms.contains(Term::kSearch);
}

void judge(ModelRow &row)
{
    if (!row.model)
        return;
    const double value = row.observed.value;
    row.residual = value - row.model->value;
    row.residual_ci95 = std::hypot(row.error, row.model->ci95);
    if (!is_within({{}, value, row.error}, *row.model))
        row.verdict = Verdict::kMissed;
    else if (row.model->ci95 <= std::max(std::fabs(value), row.error))
        row.verdict = Verdict::kAgrees;
}

Passage passage_of(const std::vector<Reach> &reach, const MeanBytes &bytes)
{
    Passage passage;
    passage.bytes = bytes;
    for (const Reach &function : reach)
        if (reach.front().packets > 0)
            passage.reached.push_back(double(function.packets) / double(reach.front().packets));
    return passage;
}

std::optional<AdditiveModel> model_of(const std::vector<Row> &rows,
                                      std::optional<Measured> Row::*figure,
                                      std::vector<Reach> Row::*reach)
{
    std::vector<Observation> observations;
    std::vector<std::string> unused, without_interval;
    for (const Row &row : rows) {
        if (!(row.*figure) || row.scenario.is_call())
            continue;
        const TermCounts terms =
            terms_of(row.scenario, passage_of(row.*reach, row.bytes), Engine::kThis);
        if (terms.empty())
            unused.push_back(row.scenario.id);
        else if (!(row.*figure)->ci95)
            without_interval.push_back(row.scenario.id);
        else
            observations.push_back({row.scenario, terms, (row.*figure)->net, *(row.*figure)->ci95});
    }
    if (observations.empty())
        return std::nullopt;
    AdditiveModel model = additive_model(observations, kLeastError);
    model.unused = std::move(unused);
    model.without_interval = std::move(without_interval);
    return model;
}

// In the row of five functions the search found nothing, so TO_BUFFER got no packets.  Its cost did
// not depend on size.
Passage passage_of_2004(const Scenario &scenario)
{
    Passage passage;
    passage.bytes.searched = scenario.frame_bytes;
    passage.reached.assign(scenario.functions.size(), 1);
    if (std::count(scenario.functions.begin(), scenario.functions.end(), Function::kSearchText) > 0)
        passage.reached.back() = 0;
    return passage;
}

AdditiveModel model_of_2004(Card card)
{
    std::vector<Observation> observations;
    for (const Scenario &scenario : all_scenarios()) {
        const PaperFigures figures = net_of_papi(scenario);
        const auto &figure =
            card == Card::kScampi ? figures.scampi_instructions : figures.intel_instructions;
        const TermCounts terms = terms_of(scenario, passage_of_2004(scenario), Engine::k2004);
        if (figure && !terms.empty())
            observations.push_back({scenario, terms, *figure, 0});
    }
    return additive_model(observations, kLeastError2004);
}
} // namespace

const char *verdict_id(Verdict verdict)
{
    switch (verdict) {
    case Verdict::kAgrees: return "agrees";
    case Verdict::kMissed: return "missed";
    case Verdict::kUntested: break;
    }
    return "untested";
}

const ModelTerm *AdditiveModel::find(Term term) const
{
    const auto found = std::find_if(terms.begin(), terms.end(),
                                    [&](const ModelTerm &one) { return one.term == term; });
    return found == terms.end() ? nullptr : &*found;
}

const ModelRow *AdditiveModel::find(const std::string &scenario_id) const
{
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const ModelRow &row) {
        return row.observed.scenario.id == scenario_id;
    });
    return found == rows.end() ? nullptr : &*found;
}

std::set<Term> terms_in_either(const AdditiveModels &models)
{
    std::set<Term> terms;
    for (const auto *model : {&models.instructions, &models.cycles})
        if (*model)
            for (const ModelTerm &term : (*model)->terms)
                terms.insert(term.term);
    return terms;
}

AdditiveModel additive_model(const std::vector<Observation> &observations, double least_error)
{
    std::set<Term> terms;
    for (const Observation &observed : observations)
        for (const auto &[term, times] : observed.terms)
            terms.insert(term);
    std::vector<Equation> equations;
    for (const Observation &observed : observations) {
        Equation equation{
            {}, observed.value, error_of(observed, least_error), is_definition(observed)};
        for (const Term term : terms) {
            const auto found = observed.terms.find(term);
            equation.coefficients.push_back(found == observed.terms.end() ? 0 : found->second);
        }
        equations.push_back(std::move(equation));
    }

    const AdditiveFit fit = additive_fit(equations);
    AdditiveModel model;
    model.spare = fit.spare;
    model.does_hold = fit.do_agree;
    for (const Term term : terms)
        model.terms.push_back({term, fit.unknowns[model.terms.size()]});
    for (size_t i = 0; i < observations.size(); ++i) {
        ModelRow row;
        row.observed = observations[i];
        row.error = equations[i].error;
        row.model = fit.others[i];
        row.is_in_fit = !fit.is_left_out[i];
        judge(row);
        model.rows.push_back(std::move(row));
    }
    return model;
}

AdditiveModels additive_models(const std::vector<Row> &rows)
{
    return {model_of(rows, &Row::instructions, &Row::counted_reach),
            model_of(rows, &Row::cycles, &Row::reach)};
}

const AdditiveModel &additive_model_2004(Card card)
{
    static const AdditiveModel scampi = model_of_2004(Card::kScampi);
    static const AdditiveModel intel = model_of_2004(Card::kIntel);
    return card == Card::kScampi ? scampi : intel;
}
} // namespace mapi_cost
