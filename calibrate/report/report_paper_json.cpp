// SPDX-License-Identifier: MIT
// report: the paper's tables -> member "paper" of calibration.json.
#include "report_paper_json.hpp"

#include "paper.hpp"

namespace calibrate
{
namespace
{
Json estimate_json(const std::optional<Estimate> &cost, std::optional<double> ns_2001, double hz)
{
    if (!cost)
        return nullptr;
    const double ns = cost->mean / hz * 1e9;
    return {{"ticks", cost->mean},
            {"ci95_ticks", cost->ci95},
            {"ns", ns},
            {"ci95_ns", cost->ci95 / hz * 1e9},
            {"ratio_to_2001", ns_2001 ? Json(ns / *ns_2001) : Json(nullptr)},
            {"batches", cost->batches},
            {"trimmed", cost->trimmed}};
}

Json text_or_null(const std::string &text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

Json event_json(const EventLine &line)
{
    Json json = {{"counter", line.counter}, {"source", line.source}, {"mode", line.mode}};
    for (size_t i = 0; i < kMacroCount; ++i) {
        const auto &count = line.counts[i];
        json[kMacros[i].acronym] =
            count ? Json{{"count", count->mean}, {"ci95", count->ci95}} : Json(nullptr);
    }
    return json;
}

Json kernel_json(const Paper &paper, double hz)
{
    Json json = {{"reason", text_or_null(paper.why_no_kernel)}};
    json["instructions"] = Json::array();
    for (const InstructionLine &line : paper.kernel_instructions)
        json["instructions"].push_back({{"name", line.name},
                                        {"here", estimate_json(line.ticks, line.ns_2001, hz)},
                                        {"reason", line.ticks ? Json(nullptr) : Json(line.note)}});
    json["macros"] = Json::array();
    for (const KernelMacroLine &line : paper.kernel_macros)
        json["macros"].push_back(
            {{"acronym", line.macro->acronym},
             {"name", line.macro->name},
             {"recorded", estimate_json(line.recorded, line.macro->ns_2001, hz)},
             {"idle", estimate_json(line.idle, {}, hz)}});
    return json;
}
} // namespace

Json paper_json(const Report &report)
{
    const double hz = report.run.facts.hz;
    const Paper paper =
        paper_of(report.run.results, instruction_variants(), is_virtual(report.environment));
    Json json = {{"source_2001", kPaperSource}, {"ring", paper.ring}};
    json["instructions"] = Json::array();
    for (const InstructionLine &line : paper.instructions)
        json["instructions"].push_back(
            {{"name", line.name},
             {"ns_2001", line.ns_2001 ? Json(*line.ns_2001) : Json(nullptr)},
             {"here", estimate_json(line.ticks, line.ns_2001, hz)},
             {"note", line.ticks ? text_or_null(line.note) : Json(nullptr)},
             {"reason", line.ticks ? Json(nullptr) : Json(line.note)}});
    json["macros"] = Json::array();
    for (const MacroLine &line : paper.macros)
        json["macros"].push_back(
            {{"acronym", line.macro->acronym},
             {"name", line.macro->name},
             {"ns_2001", line.macro->ns_2001},
             {"fast", estimate_json(line.fast, line.macro->ns_2001, hz)},
             {"ordered", estimate_json(line.ordered, line.macro->ns_2001, hz)}});
    json["kernel"] = kernel_json(paper, hz);
    json["events"] = Json::array();
    for (const EventLine &line : paper.events)
        json["events"].push_back(event_json(line));
    json["why_no_events"] = text_or_null(paper.why_no_events);
    json["events_2001"] = Json::array({Json{{"counter", kEvent2001.counter},
                                            {"event", kEvent2001.event},
                                            {"macro", kEvent2001.acronym},
                                            {"count", kEvent2001.count}}});
    return json;
}
} // namespace calibrate
