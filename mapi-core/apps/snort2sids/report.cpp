// SPDX-License-Identifier: MIT
// report: results -> rules of sids, summary, explanation, errors.
#include "report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/command/counted.hpp"
#include "common/command/printable.hpp"
#include "sids/language/rule.hpp"

namespace snort2sids
{
namespace
{
constexpr size_t kMostProblems = 20;

// The most frequent first.
std::string counts_text(const std::map<std::string, uint64_t> &counts)
{
    std::vector<std::pair<std::string, uint64_t>> sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto &one, const auto &two) { return one.second > two.second; });
    std::string text;
    for (const auto &[what, count] : sorted)
        text += fmt::format("  {:6} {}\n", count, command::printable(what));
    return text;
}

std::string header_of(const Result &result)
{
    std::string text = result.line.text.substr(result.start, result.header);
    text.erase(text.find_last_not_of(" \t") + 1);
    return command::printable(text);
}

std::string sid_text(const Identity &identity)
{
    const std::string sid =
        identity.number == 0 ? "a rule without sid" : fmt::format("sid {}", identity.number);
    return identity.generator == 1 ? sid : fmt::format("gid {} {}", identity.generator, sid);
}

std::string explain(const Result &result)
{
    std::string text;
    if (const Refusal *const refusal = result.refusal()) {
        const Place place = result.line.place(result.start + refusal->offset);
        return fmt::format("{}: {} is refused: {}\n{}\n", place.name(), sid_text(result.identity),
                           refusal->what(), place.caret());
    }
    text = fmt::format("{}: {} is converted\n  {}\nbecomes\n  {}\n",
                       result.line.place(result.start).name(), sid_text(result.identity),
                       command::printable(result.line.text.substr(result.start)),
                       command::printable(result.conversion()->rule));
    for (const std::string &note : result.conversion()->notes)
        text += fmt::format("note: {}\n", note);
    return text;
}
} // namespace

std::string rules_text(const std::vector<Result> &results, bool has_comments)
{
    std::string text;
    for (const Result &result : results) {
        const Conversion *const conversion = result.conversion();
        if (!conversion)
            continue;
        if (has_comments)
            text += fmt::format("# {}: {}\n",
                                command::printable(result.line.place(result.start).name()),
                                header_of(result));
        text += conversion->rule + "\n";
    }
    return text;
}

std::string summary_text(const std::vector<Result> &results,
                         const std::map<std::string, uint64_t> &skipped)
{
    std::map<std::string, uint64_t> refused, notes;
    uint64_t converted = 0;
    for (const Result &result : results) {
        if (const Refusal *const refusal = result.refusal()) {
            ++refused[refusal->reason];
            continue;
        }
        ++converted;
        for (const std::string &note : result.conversion()->notes)
            ++notes[note];
    }
    std::string text =
        fmt::format("snort2sids: {} of {} converted, {} refused\n", converted,
                    command::counted(results.size(), "rule"), results.size() - converted);
    if (converted > sids::kRulesMost)
        text += fmt::format("sids accepts at most {} rules at once: divide them among several "
                            "files\n",
                            sids::kRulesMost);
    if (!refused.empty())
        text += "refused (--explain SID shows one):\n" + counts_text(refused);
    if (!notes.empty())
        text += "notes on converted rules, which match the same packets:\n" + counts_text(notes);
    if (!skipped.empty())
        text += "lines skipped:\n" + counts_text(skipped);
    return text;
}

std::string refused_text(const std::vector<Result> &results)
{
    std::string text;
    for (const Result &result : results)
        if (const Refusal *const refusal = result.refusal())
            text += command::printable(fmt::format(
                        "{}: {}: {}", result.line.place(result.start + refusal->offset).name(),
                        sid_text(result.identity), refusal->what())) +
                    "\n";
    return text;
}

std::string explanation_text(const std::vector<Result> &results, uint32_t sid)
{
    std::string text;
    for (const Result &result : results)
        if (result.identity.number == sid)
            text += explain(result);
    return text;
}

std::string problems_text(const std::vector<RuleFiles::Problem> &problems)
{
    std::string text;
    for (size_t i = 0; i < std::min(problems.size(), kMostProblems); ++i) {
        const RuleFiles::Problem &problem = problems[i];
        text += fmt::format(
            "{}: {}{}\n{}\n", command::printable(problem.place.name()), problem.what,
            problem.lines == 1
                ? ""
                : fmt::format(", also in {}", command::counted(problem.lines - 1, "other line")),
            problem.place.caret());
    }
    if (problems.size() > kMostProblems)
        text += fmt::format("and {}\n",
                            command::counted(problems.size() - kMostProblems, "more error"));
    return text;
}
} // namespace snort2sids
