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

constexpr std::array<Words, 20> kWords = {{
    {"base", "base: a packet, no function"},
    {"counter", "COUNTER"},
    {"filter", "BPF_FILTER"},
    {"sample", "SAMPLE_PACKETS"},
    {"buffer", "TO_BUFFER"},
    {"search", "STR_SEARCH"},
    {"search-byte", "STR_SEARCH, each byte searched"},
    {"flow", "further flow"},
    {"known-flow", "further flow, known functions"},
    {"known-filter", "further flow, known BPF_FILTER"},
    {"known-search", "further flow, known STR_SEARCH"},
    {"filter-passing", "BPF_FILTER, passing packets"},
    {"buffer-passing", "TO_BUFFER, passing packets"},
    {"filter-1500", "BPF_FILTER, 1500 bytes"},
    {"sample-1500", "SAMPLE_PACKETS, all pass"},
    {"search-text", "STR_SEARCH, --string, 1500 bytes"},
    {"buffer-1500", "TO_BUFFER, 1500 bytes"},
    {"flow-buffer", "further flow, own TO_BUFFER"},
    {"flow-filter", "further flow, another BPF_FILTER"},
    {"flow-search", "further flow, another STR_SEARCH"},
}};

// False if the passage does not show how far a search went.
bool add_function_of_2004(TermCounts &terms, Function function, double times,
                          const Scenario &scenario, const Passage &passage)
{
    switch (function) {
    case Function::kCounter: terms[Term::kCounter] += times; return true;
    case Function::kFilter: terms[Term::kFilter] += times; return true;
    case Function::kSample:
    case Function::kSampleAll: terms[Term::kSample] += times; return true;
    case Function::kBuffer: terms[Term::kBuffer] += times; return true;
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

void add_function(TermCounts &terms, Function function, double times, const Scenario &scenario)
{
    const Traffic traffic = scenario.traffic;
    const bool is_made = traffic == Traffic::kMadeMatching,
               is_passing = traffic == Traffic::kMatching;
    switch (function) {
    case Function::kCounter: terms[Term::kCounter] += times; break;
    case Function::kFilter:
        terms[is_made      ? Term::kFilterMade
              : is_passing ? Term::kFilterPassing
                           : Term::kFilter] += times;
        break;
    case Function::kSample: terms[Term::kSample] += times; break;
    case Function::kSampleAll: terms[Term::kSampleMade] += times; break;
    case Function::kBuffer:
        terms[is_made      ? Term::kBufferMade
              : is_passing ? Term::kBufferPassing
                           : Term::kBuffer] += times;
        break;
    case Function::kSearchAbsent:
        terms[Term::kSearch] += times;
        terms[Term::kSearchByte] += times * scenario.frame_bytes;
        break;
    case Function::kSearchText: terms[Term::kSearchMade] += times; break;
    }
}

// This engine runs a function that several flows have once, whichever it is; further filters and
// strings join the pass of the first, and a buffer has memory of its own.
Term further_term(const Scenario &scenario)
{
    const Function function = scenario.functions.front();
    if (function == Function::kBuffer)
        return Term::kFlowBuffer;
    if (scenario.quantity == Quantity::kFurtherSame)
        return Term::kKnownFlow;
    return function == Function::kFilter ? Term::kFlowFilter : Term::kFlowSearch;
}

// The term of a further flow with known functions, or nullopt if that engine did not share them.
std::optional<Term> known_flow_of_2004(const Scenario &scenario)
{
    const Function function = scenario.functions.front();
    if (scenario.quantity != Quantity::kFurtherSame || function == Function::kBuffer ||
        function == Function::kCounter)
        return std::nullopt;
    return function == Function::kFilter ? Term::kKnownFilter : Term::kKnownSearch;
}

TermCounts terms_of_2004(const Scenario &scenario, const Passage &passage)
{
    if (scenario.is_further()) {
        if (const auto known = known_flow_of_2004(scenario))
            return {{*known, 1}};
    }
    TermCounts terms = {{scenario.is_further() ? Term::kFlow : Term::kBase, 1}};
    for (size_t i = 0; i < scenario.functions.size(); ++i)
        if (passage.reached[i] > 0 && !add_function_of_2004(terms, scenario.functions[i],
                                                            passage.reached[i], scenario, passage))
            return {};
    return terms;
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
    if (scenario.is_call() || !scenario.own.empty() ||
        passage.reached.size() != scenario.functions.size())
        return {};
    if (engine == Engine::k2004)
        return terms_of_2004(scenario, passage);
    if (scenario.is_further())
        return {{further_term(scenario), 1}};
    TermCounts terms = {{Term::kBase, passage.batch_share}};
    for (size_t i = 0; i < scenario.functions.size(); ++i)
        if (passage.reached[i] > 0)
            add_function(terms, scenario.functions[i], passage.reached[i], scenario);
    return terms;
}

namespace
{
double error_of(const Observation &observed, double least_error)
{
    return std::max({observed.ci95 - observed.own_bound,
                     kLeastErrorShare * std::fabs(observed.value), least_error});
}

// Scenarios with no or one function define its term.  STR_SEARCH has several sizes, none of which
// defines it alone.
bool is_definition(const Observation &observed)
{
    return observed.scenario.quantity == Quantity::kPacket &&
           observed.scenario.functions.size() <= 1 && !observed.terms.contains(Term::kSearch);
}

// Where they come from: README.md.
const char *cause_of(const ModelRow &row)
{
    if (row.observed.terms.contains(Term::kSearch))
        return "possibly the search: it compares 128 bytes at once and the rest 32 at once, and "
               "stops where the payload has the string's first and last byte";
    if (row.observed.scenario.functions.size() > 1)
        return "possibly the effect of the functions on each other in the caches, since packets "
               "and batches are the same";
    return nullptr;
}

double most_own_bound(const std::vector<Observation> &observations)
{
    double most = 0;
    for (const Observation &observed : observations)
        most = std::max(most, observed.own_bound);
    return most;
}

void judge(ModelRow &row)
{
    if (!row.model)
        return;
    const double value = row.observed.value;
    row.residual = value - row.model->value;
    row.residual_ci95 = std::hypot(row.error, row.model->ci95);
    if (!is_within({{}, value, row.error}, *row.model)) {
        row.verdict = Verdict::kMissed;
        row.cause = cause_of(row);
    } else if (row.model->ci95 <= std::max(std::fabs(value), row.error)) {
        row.verdict = Verdict::kAgrees;
    }
}

Passage passage_of(const std::vector<Reach> &reach, const Row &row)
{
    Passage passage;
    passage.bytes = row.bytes;
    passage.batch_share = row.batch_share;
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
        const TermCounts terms = terms_of(row.scenario, passage_of(row.*reach, row), Engine::kThis);
        if (terms.empty())
            unused.push_back(row.scenario.id);
        else if (!(row.*figure)->ci95)
            without_interval.push_back(row.scenario.id);
        else
            observations.push_back({row.scenario, terms, (row.*figure)->net, *(row.*figure)->ci95,
                                    (row.*figure)->own_bound});
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
            observations.push_back({scenario, terms, *figure, 0, 0});
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
    for (ModelTerm &term : model.terms)
        if (term.term == Term::kBase && term.cost)
            term.cost->ci95 += most_own_bound(observations);
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

AdditiveModels additive_models(std::vector<Row> rows, const std::vector<Row> &companions)
{
    rows.insert(rows.end(), companions.begin(), companions.end());
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
