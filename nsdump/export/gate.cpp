// SPDX-License-Identifier: MIT
// export: judged rules -> text, a table in Markdown, JUnit XML.
#include "export/gate.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "export/escape.hpp"

namespace nsdump
{
namespace
{
std::string number(double value)
{
    return fmt::format("{:.6g}", value);
}

// "43.02 ± 0.01 instructions/packet, limit 45.225"
std::string measured(const GateResult &result)
{
    if (result.status == GateStatus::kNotJudged)
        return printable_utf8(result.why);
    std::string out = number(result.value);
    if (result.half95 > 0)
        out += fmt::format(" ± {:.2g}", result.half95);
    if (!result.unit.empty())
        out += " " + printable_utf8(result.unit);
    return out + ", limit " + number(result.bound);
}

// What the reader of a failure or of a note has to know besides the figures.
std::string status_words(const GateResult &result)
{
    if (result.status != GateStatus::kUndecided)
        return status_name(result.status);
    return result.fails ? "undecided (strict)" : "undecided";
}

// A rule that names its slice needs no other title.
std::string title_of(const GateResult &result)
{
    return result.rule->text.starts_with(result.slice + ":")
               ? result.rule->text
               : fmt::format("{}: {}", result.slice, result.rule->text);
}

bool is_failing(const GateResult &result)
{
    return result.fails;
}

bool is_note(const GateResult &result)
{
    return result.status == GateStatus::kUndecided && !result.fails;
}

std::string summary_of(const std::vector<GateResult> &results)
{
    const auto failed = uint64_t(std::count_if(results.begin(), results.end(), is_failing));
    const auto notes = uint64_t(std::count_if(results.begin(), results.end(), is_note));
    return fmt::format("{} held, {} undecided, {} failed", results.size() - failed - notes, notes,
                       failed);
}

const char *colour_of(const GateResult &result)
{
    if (result.fails)
        return "\x1b[31m";                            // red
    return is_note(result) ? "\x1b[33m" : "\x1b[32m"; // yellow, green
}

// Markdown of a table's cell: no markup, line or column from a slice's name.
std::string cell(const std::string &text)
{
    std::string out;
    for (const char letter : printable_utf8(text)) {
        if (std::string_view("\\`*_{}[]<>()#+!|~&@").find(letter) != std::string_view::npos)
            out += '\\';
        out += letter;
    }
    return out;
}
} // namespace

std::string gate_text(const std::vector<GateResult> &results, bool has_colours)
{
    std::string out;
    for (const GateResult &result : results) {
        const std::string status = fmt::format("{:<18}", status_words(result));
        out += has_colours ? colour_of(result) + status + "\x1b[0m" : status;
        out += fmt::format("  {}\n{:20}{}\n", printable(title_of(result)), "", measured(result));
    }
    return out + summary_of(results) + "\n";
}

std::string gate_markdown(const std::vector<GateResult> &results, const std::string &rules_path)
{
    std::string out =
        fmt::format("**nsdump gate** {}: {}\n", cell(rules_path), summary_of(results));
    if (!std::any_of(results.begin(), results.end(),
                     [](const GateResult &one) { return one.status != GateStatus::kHolds; }))
        return out;
    out += "\n| status | slice | rule | measured |\n| --- | --- | --- | --- |\n";
    for (const GateResult &result : results)
        if (result.status != GateStatus::kHolds)
            out += fmt::format("| {} | {} | {} | {} |\n", status_words(result), cell(result.slice),
                               cell(result.rule->text), cell(measured(result)));
    return out;
}

std::string gate_junit(const std::vector<GateResult> &results, const std::string &rules_path)
{
    const auto failed = std::count_if(results.begin(), results.end(), is_failing);
    const std::string counts =
        fmt::format("name=\"nsdump gate\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\"",
                    results.size(), failed);
    std::string out = fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n"
                                  "  <testsuite {}>\n",
                                  counts, counts);
    for (const GateResult &result : results) {
        const std::string words = xml_text(measured(result));
        out += fmt::format("    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" line=\"{}\">\n",
                           xml_text(rules_path), xml_text(title_of(result)), xml_text(rules_path),
                           result.rule->line);
        if (result.fails)
            out += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                               status_words(result), words, words);
        out += fmt::format("      <system-out>{}: {}</system-out>\n    </testcase>\n",
                           status_words(result), words);
    }
    return out + "  </testsuite>\n</testsuites>\n";
}
} // namespace nsdump
