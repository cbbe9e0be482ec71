// SPDX-License-Identifier: MIT
// additive_table: the models of a run -> text.
#include "text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cells.hpp"

namespace mapi_cost
{
namespace
{
constexpr size_t kTermColumns = kNameColumns + 5;

std::string cost_text(const std::optional<AdditiveModel> &model, Term term)
{
    const ModelTerm *found = model ? model->find(term) : nullptr;
    return found && found->cost ? with_interval(found->cost->value, found->cost->ci95) : "-";
}

std::string paper_text(Card card, Term term)
{
    if (term == Term::kKnownFlow)
        return paper_text(card, Term::kKnownFilter) + ", " + paper_text(card, Term::kKnownSearch);
    const ModelTerm *found = additive_model_2004(card).find(term);
    if (!found || !found->cost)
        return "-";
    return fmt::format("{:.{}f}", found->cost->value, term == Term::kSearchByte ? 1 : 0);
}

std::string term_table(const AdditiveModels &models)
{
    const bool has_instructions = models.instructions.has_value();
    std::string text = "\nAdditive model: a packet costs the sum of these; a further flow costs "
                       "its own term and its functions\n";
    text += std::string(kTermColumns, ' ');
    if (has_instructions)
        text += fmt::format(" |{:>16}{:>10}{:>10}", "instr. ± 95 %", "SCAMPI", "Intel");
    text += fmt::format(" |{:>16}\n", "TSC ± 95 %");
    text += std::string(kTermColumns, '-') + (has_instructions ? "-+" + std::string(36, '-') : "") +
            "-+" + std::string(16, '-') + "\n";
    for (const Term term : terms_in_either(models)) {
        text += fmt::format("{:<{}}", term_name(term), kTermColumns);
        if (has_instructions)
            text += fmt::format(" |{:>16}{:>10}{:>10}", cost_text(models.instructions, term),
                                paper_text(Card::kScampi, term), paper_text(Card::kIntel, term));
        text += fmt::format(" |{:>16}\n", cost_text(models.cycles, term));
    }
    return text;
}

std::string row_columns(const std::optional<AdditiveModel> &model, const Scenario &scenario)
{
    const ModelRow *row = model ? model->find(scenario.id) : nullptr;
    if (!row)
        return fmt::format(" |{:>7}{:>8}{:>15}{:>9}", "-", "-", "-", "-");
    const std::string residual =
        row->model ? with_interval(row->residual, row->residual_ci95) : "-";
    return fmt::format(" |{:>7}{:>8}{:>15}{:>9}", number(row->observed.value),
                       row->model ? number(row->model->value) : "-", residual,
                       row->verdict == Verdict::kMissed ? "MISSED" : verdict_id(row->verdict));
}

std::string row_table(const Results &results)
{
    const AdditiveModels &models = results.models;
    const bool has_instructions = models.instructions.has_value();
    const auto heading = [](const char *kind) {
        return fmt::format(" |{:>7}{:>8}{:>15}{:>9}", kind, "model", "residual ± 95%", "");
    };
    std::string text = "\nEach scenario next to the model of the others: net cost, predicted cost, "
                       "difference with both errors\n";
    text += fmt::format("{:<{}}{:>5}", "", kNameColumns, "bytes") +
            (has_instructions ? heading("instr.") : "") + heading("TSC") + "\n";
    const std::string rule = "-+" + std::string(39, '-');
    text += std::string(kTermColumns, '-') + (has_instructions ? rule : "") + rule + "\n";
    bool is_further = false;
    for (const Row &row : results.rows) {
        const Scenario &scenario = row.scenario;
        const bool is_in = (models.instructions && models.instructions->find(scenario.id)) ||
                           (models.cycles && models.cycles->find(scenario.id));
        if (!is_in)
            continue;
        if (scenario.is_further() && !is_further)
            text += "what a further flow adds:\n";
        is_further = scenario.is_further();
        const std::string name = last_line_of_name(scenario.name, text);
        text += fmt::format("{:<{}}{:>5}", name, kNameColumns, bytes_text(scenario));
        text += (has_instructions ? row_columns(models.instructions, scenario) : "") +
                row_columns(models.cycles, scenario) + "\n";
    }
    return text;
}

// "a; b"; items without text are skipped.
template <class Items, class Words> std::string list_text(const Items &items, Words words)
{
    std::string text;
    for (const auto &item : items)
        if (const std::string word = words(item); !word.empty())
            text += (text.empty() ? "" : "; ") + word;
    return text;
}

std::string words_of(const char *quantity, const AdditiveModel &model)
{
    const std::string missed = list_text(model.rows, [](const ModelRow &row) {
        const Scenario &scenario = row.observed.scenario;
        return row.verdict != Verdict::kMissed
                   ? std::string()
                   : fmt::format("{}{} ({}{}{})", scenario.is_further() ? "a further flow of " : "",
                                 name_of(scenario), with_interval(row.residual, row.residual_ci95),
                                 row.cause ? ": " : "", row.cause ? row.cause : "");
    });
    const std::string open = list_text(model.terms, [](const ModelTerm &term) {
        return term.cost ? "" : std::string(term_name(term.term));
    });
    const auto id_text = [](const std::string &id) { return id; };
    const std::string unused = list_text(model.unused, id_text),
                      without_interval = list_text(model.without_interval, id_text);
    const auto tested =
        std::count_if(model.rows.begin(), model.rows.end(),
                      [](const ModelRow &row) { return row.verdict != Verdict::kUntested; });
    std::string text = fmt::format("{}: ", quantity);
    if (tested == 0)
        text += "nothing tests the model: each scenario has a term of its own.";
    else if (missed.empty())
        text += fmt::format(
            "each of the {} scenarios that others test is within its error of the model.", tested);
    else
        text += "the model misses by more than the error: " + missed + ".";
    if (!model.does_hold)
        text += " No additive model holds: even without the quarter of the scenarios that fits "
                "worst, the others disagree, so its terms are rough.";
    if (!open.empty())
        text += " Not determined (run more scenarios): " + open + ".";
    if (!unused.empty())
        text += " Not in the model, which has no terms for them: " + unused + ".";
    if (!without_interval.empty())
        text += " Not in the model, because their cost has no interval: " + without_interval + ".";
    return wrapped(text);
}

std::string reading_text()
{
    return wrapped(fmt::format(
        "The model is a weighted least squares fit. A function is weighted with the share of "
        "packets that reach it, STR_SEARCH with the bytes that it reads. What a function costs "
        "depends on its packets, so a scenario of several functions is compared with each of them "
        "on the same packets (passing packets, 1500 bytes). A further flow with functions of its "
        "own has a term of its own: further filters and strings join the pass of the first, a "
        "further TO_BUFFER has its own 4 MiB, which displace those of the others from the caches. "
        "An interval counts as at least {:.0f} % of the cost and at least {}: it shows how a "
        "scenario repeats, not how code behaves next to other code. Scenarios of several "
        "functions, sizes or flows that contradict the others (at most a quarter of all) are left "
        "out of the fit and only compared with it; those with no or one function define the "
        "terms. untested: the others do not determine the cost, or only with an error larger than "
        "the cost. One in twenty is missed by chance. 2004: the same fit of D3.4's instructions; "
        "known functions: BPF_FILTER, STR_SEARCH.",
        kLeastErrorShare * 100, kLeastError));
}
} // namespace

std::string additive_text(const Results &results)
{
    const AdditiveModels &models = results.models;
    if (!models.instructions && !models.cycles)
        return {};
    std::string text = term_table(models) + row_table(results) + "\n";
    if (models.instructions)
        text += words_of("Instructions", *models.instructions);
    if (models.cycles)
        text += words_of("TSC cycles", *models.cycles);
    return text + reading_text();
}
} // namespace mapi_cost
