// SPDX-License-Identifier: MIT
// csv: results -> one line per row, then one per term of the additive model.
#include "text.hpp"

#include <fmt/format.h>

namespace mapi_cost
{
namespace
{
std::string field(const std::optional<double> &value)
{
    return value ? fmt::format(",{:.6g}", *value) : ",";
}

std::string measured(const std::optional<Measured> &value)
{
    if (!value)
        return ",,,,";
    return fmt::format(",{:.6f},{:.6f},{},{}", value->raw, value->net,
                       value->ci95 ? fmt::format("{:.6f}", *value->ci95) : "", value->packets);
}

std::string compared(const std::optional<AdditiveModel> &model, const Scenario &scenario)
{
    const ModelRow *row = model ? model->find(scenario.id) : nullptr;
    if (!row)
        return ",,,,";
    const std::string figures = row->model ? fmt::format(",{:.6f},{:.6f},{:.6f}", row->model->value,
                                                         row->residual, row->residual_ci95)
                                           : ",,,";
    return figures + "," + verdict_id(row->verdict);
}

std::string cost(const std::optional<AdditiveModel> &model, Term term)
{
    const ModelTerm *found = model ? model->find(term) : nullptr;
    return found && found->cost
               ? fmt::format(",,{:.6f},{:.6f},", found->cost->value, found->cost->ci95)
               : ",,,,";
}

// Names come from the program itself; they may contain commas, but no quotation marks.
std::string description(const Scenario &scenario)
{
    return fmt::format("{},{},\"{}\",{}", scenario.table, scenario.id, scenario.name,
                       scenario.frame_bytes ? std::to_string(scenario.frame_bytes) : "");
}

// Columns of a live device's pass; empty if there was no such pass.
std::string arrivals(const Arrivals &arrivals)
{
    if (arrivals.seconds == 0)
        return std::string(3 + kDropCauses, ',');
    std::string text =
        fmt::format(",{:.6f},{},{:.6g}", arrivals.seconds, arrivals.packets, arrivals.mean_batch());
    for (const uint64_t count : arrivals.drops)
        text += fmt::format(",{}", count);
    return text;
}

// Net costs; those of 2004 come from the same fit.
std::string term_line(const AdditiveModels &models, Term term)
{
    const auto old = [&](Card card) {
        const ModelTerm *found = additive_model_2004(card).find(term);
        return field(found && found->cost ? std::optional(found->cost->value) : std::nullopt);
    };
    return fmt::format("model,{},\"{}\",", term_id(term), term_name(term)) +
           cost(models.instructions, term) + cost(models.cycles, term) + old(Card::kScampi) + "," +
           old(Card::kIntel) + ",," + ",,,,,,,," + "," + arrivals({}) + arrivals({}) + "\n";
}

std::string arrivals_header(const std::string &pass)
{
    std::string text = fmt::format(",{0}_seconds,{0}_packets,{0}_packets_per_batch", pass);
    for (size_t i = 0; i < kDropCauses; ++i)
        text += fmt::format(",{}_drop_{}", pass, drop_name(i));
    return text;
}
} // namespace

std::string csv_text(const Results &results)
{
    std::string text =
        "table,id,scenario,packet_bytes,"
        "instructions_raw,instructions_net,instructions_ci95,instructions_packets,"
        "tsc_cycles_raw,tsc_cycles_net,tsc_cycles_ci95,tsc_cycles_packets,"
        "scampi_2004_instructions,scampi_2004_cycles,intel_2004_instructions,intel_2004_cycles,"
        "packets_per_second,"
        "instructions_model,instructions_residual,instructions_residual_ci95,instructions_verdict,"
        "tsc_cycles_model,tsc_cycles_residual,tsc_cycles_residual_ci95,tsc_cycles_verdict,driver_"
        "read_tsc_cycles";
    text += arrivals_header("timed") + arrivals_header("counted") + "\n";
    for (const Row &row : results.rows) {
        const Scenario &scenario = row.scenario;
        const PaperFigures &paper = scenario.paper;
        text += description(scenario);
        text += measured(row.instructions) + measured(row.cycles);
        text += field(paper.scampi_instructions) + field(paper.scampi_cycles) +
                field(paper.intel_instructions) + field(paper.intel_cycles);
        text += field(row.rates ? std::optional(row.rates->packets_per_second) : std::nullopt);
        text += compared(results.models.instructions, scenario) +
                compared(results.models.cycles, scenario);
        text += field(row.driver_read_cycles()) + arrivals(row.arrivals.timed) +
                arrivals(row.arrivals.counted) + "\n";
    }
    for (const Term term : terms_in_either(results.models))
        text += term_line(results.models, term);
    return text;
}

std::string scenarios_csv(const std::vector<Scenario> &scenarios)
{
    std::string text = "table,id,scenario,packet_bytes\n";
    for (const Scenario &scenario : scenarios)
        text += description(scenario) + "\n";
    return text;
}
} // namespace mapi_cost
