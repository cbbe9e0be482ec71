// SPDX-License-Identifier: MIT
// nsdump counters: this machine -> what it can count, by which source, and why not by the others;
// with --verify, whether it counts correctly.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <nsprobe/counters.h>

#include "cli/commands.hpp"
#include "cli/verify/verify.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/status_line.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
using Json = nlohmann::ordered_json;

struct Options {
    std::string pattern;
    std::string source; // empty: the sources of hardware counters
    std::string format = "text";
    std::string output;
    bool all = false;
    bool verifies = false;
};

struct SourceRow {
    const char *name;
    nsp_counter_source source;
    std::string refusal; // empty: it works
};

struct CounterRow {
    std::string name, group, meaning;
    nsp_counter_access access = NSP_COUNTER_REFUSED;
    std::string refusal; // why no better source reads it, or none at all
};

struct Listing {
    std::vector<SourceRow> sources;
    std::vector<CounterRow> counters; // the requested ones
    bool has_refused = false;         // whether these include refused ones
    size_t refused = 0;               // among all that match
    std::string missing_library;
};

std::vector<SourceRow> try_sources()
{
    std::vector<SourceRow> rows = {{"rdpmc", NSP_SOURCE_RDPMC, ""},
                                   {"perf-read", NSP_SOURCE_PERF_READ, ""},
                                   {"papi", NSP_SOURCE_PAPI, ""},
                                   {"step", NSP_SOURCE_STEP, ""}};
    for (SourceRow &row : rows)
        if (nsp_source_try(row.source, "instructions") != 0)
            row.refusal = nsp_last_error();
    return rows;
}

bool contains(const std::string &text, const std::string &pattern)
{
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    const auto same = [lower](char a, char b) { return lower(a) == lower(b); };
    return std::search(text.begin(), text.end(), pattern.begin(), pattern.end(), same) !=
           text.end();
}

void collect(const nsp_counter_info *info, void *context)
{
    auto &rows = *static_cast<std::vector<CounterRow> *>(context);
    rows.push_back(
        {info->name, info->group, info->meaning ? info->meaning : "", NSP_COUNTER_REFUSED, ""});
}

Listing list_counters(const Options &options)
{
    Listing listing;
    std::vector<CounterRow> known;
    listing.sources = try_sources();
    listing.has_refused = options.all;
    if (nsp_counters_visit(collect, &known) != 0)
        listing.missing_library = nsp_last_error();
    for (CounterRow &row : known) {
        if (command_was_interrupted())
            throw command::Interrupted();
        if (!contains(row.name, options.pattern) && !contains(row.meaning, options.pattern))
            continue;
        row.access = nsp_counter_try(row.name.c_str());
        if (row.access != NSP_COUNTER_USER_READS)
            row.refusal = nsp_last_error();
        listing.refused += row.access == NSP_COUNTER_REFUSED;
        if (options.all || row.access != NSP_COUNTER_REFUSED)
            listing.counters.push_back(std::move(row));
    }
    return listing;
}

const char *access_name(nsp_counter_access access)
{
    return access == NSP_COUNTER_USER_READS  ? "rdpmc"
           : access == NSP_COUNTER_PERF_READ ? "perf-read"
                                             : "no";
}

std::string text_of(const Listing &listing)
{
    std::string text = "Sources for instructions, best first\n";
    const auto to = std::back_inserter(text);
    for (const SourceRow &row : listing.sources)
        fmt::format_to(to, "  {:<10} {}\n", row.name,
                       row.refusal.empty() ? "works here" : row.refusal);
    if (!listing.counters.empty())
        text += "\nCounters: best source, name, meaning\n";
    const std::string *group = nullptr;
    for (const CounterRow &row : listing.counters) {
        if (!group || *group != row.group)
            fmt::format_to(to, "{}\n", row.group);
        group = &row.group;
        fmt::format_to(to, "  {:<10} {:<40} {}\n", access_name(row.access), row.name, row.meaning);
        if (row.access == NSP_COUNTER_REFUSED)
            fmt::format_to(to, "             {}\n", row.refusal);
    }
    if (listing.refused > 0)
        fmt::format_to(to, "\n{} known counters are unavailable here{}\n", listing.refused,
                       listing.has_refused ? "" : "; --all lists them with the reasons");
    if (!listing.missing_library.empty())
        fmt::format_to(to, "\n{}\n", listing.missing_library);
    return text;
}

std::string json_of(const Listing &listing)
{
    Json json = {
        {"schema", "netslice-counters-1"}, {"sources", Json::array()}, {"counters", Json::array()}};
    for (const SourceRow &row : listing.sources) {
        json["sources"].push_back({{"name", row.name}, {"works", row.refusal.empty()}});
        if (!row.refusal.empty())
            json["sources"].back()["reason"] = row.refusal;
    }
    for (const CounterRow &row : listing.counters) {
        json["counters"].push_back({{"name", row.name},
                                    {"group", row.group},
                                    {"meaning", row.meaning},
                                    {"source", access_name(row.access)}});
        if (!row.refusal.empty())
            json["counters"].back()["reason"] = row.refusal;
    }
    json["refused"] = listing.refused;
    if (!listing.missing_library.empty())
        json["missing_library"] = listing.missing_library;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int run_verify(const Options &options)
{
    command::Output output(options.output);
    const std::vector<std::string> sources = options.source.empty()
                                                 ? std::vector<std::string>{"rdpmc", "perf-read"}
                                                 : std::vector<std::string>{options.source};
    verify::Report report;
    {
        command::StatusLine progress;
        report = verify::verify(sources, [&](const std::string &next) { progress.show(next); });
    }
    output.text() = options.format == "json" ? report_json(report) : report_text(report);
    output.finish();
    switch (report.verdict()) {
    case verify::Verdict::kPassed: return kExitOk;
    case verify::Verdict::kFailed: return kExitFindings;
    default: return kExitUnreadable;
    }
}

int run(const Options &options)
{
    if (options.verifies)
        return run_verify(options);
    command::Output output(options.output);
    const Listing listing = list_counters(options);
    const bool has_any = !listing.counters.empty() || listing.refused > 0;
    if (!has_any)
        throw command::UsageError("pattern \"" + printable(options.pattern) +
                                  "\": matches no counter (`nsdump counters --all` lists all)");
    output.text() = options.format == "json" ? json_of(listing) : text_of(listing);
    output.finish();
    return kExitOk;
}

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    const command::Argument pattern = arguments.add(
        "pattern", options->pattern, "only counters with this text in name or meaning");
    const command::Argument all = arguments.add_flag(
        "--all", options->all, "also list unavailable counters, with the reason");
    arguments.add_flag("--verify", options->verifies,
                       "count code of known length, also while the thread migrates or is "
                       "preempted, and compare");
    const command::Argument source =
        arguments
            .add("--source", options->source,
                 "with --verify: only this counter source (default: rdpmc and perf-read)")
            .one_of(verify::source_names());
    arguments.add_format(options->format, {"text", "json"});
    add_output(arguments, options->output);
    arguments.footer("The names are those accepted by `record --counters` and "
                     "NET_SLICE_CONF(\"counters=...\"): the kernel's own, and\n"
                     "libpfm4's with its masks and modifiers. Each counter is tested by opening it "
                     "for this process.\n"
                     "\n"
                     "Exit codes:\n"
                     "  0    success, even if no counter is available; --verify: all available "
                     "checks passed\n"
                     "  1    --verify: a check failed\n"
                     "  2    invalid usage, or no name matches\n"
                     "  3    --verify: no check is available on this machine\n"
                     "  4    the output cannot be written\n"
                     "  130  interrupted");
    arguments.at_end([options, pattern, all, source] {
        if (options->verifies)
            command::refuse({pattern, all}, "cannot be combined with --verify");
        else
            command::refuse({source}, "requires --verify");
    });
    return [options] { return run(*options); };
}
} // namespace

const Command kCounters = {"counters",
                           "List what this machine can count, and how programs may read it", add};
} // namespace nsdump
