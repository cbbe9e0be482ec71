// SPDX-License-Identifier: MIT
// verify: the report -> text, JSON.
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/verify/verify.hpp"
#include "export/escape.hpp"

namespace nsdump::verify
{
namespace
{
using Json = nlohmann::ordered_json;

std::string verdict_line(const Report &report)
{
    unsigned passed = 0, failed = 0, unavailable = 0;
    for (const SourceResult &source : report.sources) {
        unavailable += source.refusal.empty() ? 0 : unsigned(all_checks().size());
        for (const CheckResult &result : source.checks) {
            passed += result.outcome.verdict == Verdict::kPassed;
            failed += result.outcome.verdict == Verdict::kFailed;
            unavailable += result.outcome.verdict == Verdict::kUnavailable;
        }
    }
    const char *meaning = report.verdict() == Verdict::kPassed
                              ? "counters of the sources that passed are exact"
                          : report.verdict() == Verdict::kFailed
                              ? "do not trust counters of a source that failed; please send this "
                                "report in"
                              : "nothing could be verified on this machine";
    return fmt::format("verdict: {}: {} passed, {} failed, {} unavailable: {}\n",
                       verdict_name(report.verdict()), passed, failed, unavailable, meaning);
}
} // namespace

std::string report_text(const Report &report)
{
    std::string text;
    const auto to = std::back_inserter(text);
    for (const auto &[name, value] : report.facts)
        fmt::format_to(to, "{:<27} {}\n", name, printable(value));
    text += "\n";
    for (const SourceResult &source : report.sources) {
        if (!source.refusal.empty())
            fmt::format_to(to, "{:<10} {:<11} unavailable: {}\n", source.name, "all checks",
                           source.refusal);
        for (const CheckResult &result : source.checks)
            fmt::format_to(to, "{:<10} {:<11} {}: {}\n", source.name, result.check->name,
                           verdict_name(result.outcome.verdict), result.outcome.text);
    }
    return text + "\n" + verdict_line(report);
}

std::string report_json(const Report &report)
{
    Json json = {{"schema", "netslice-verify-1"}, {"verdict", verdict_name(report.verdict())}};
    for (const auto &[name, value] : report.facts)
        json["facts"][name] = value;
    json["sources"] = Json::array();
    for (const SourceResult &source : report.sources) {
        Json one = {{"name", source.name}, {"works", source.refusal.empty()}};
        if (!source.refusal.empty())
            one["reason"] = source.refusal;
        one["checks"] = Json::array();
        for (const CheckResult &result : source.checks) {
            Json check = {{"name", result.check->name},
                          {"meaning", result.check->meaning},
                          {"verdict", verdict_name(result.outcome.verdict)},
                          {"text", result.outcome.text}};
            if (result.outcome.expected)
                check.update({{"expected", *result.outcome.expected},
                              {"measured", *result.outcome.measured}});
            one["checks"].push_back(check);
        }
        json["sources"].push_back(one);
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
} // namespace nsdump::verify
