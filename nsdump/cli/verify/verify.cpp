// SPDX-License-Identifier: MIT
// verify: counter sources -> all checks of each.
#include "cli/verify/verify.hpp"

#include <algorithm>
#include <array>

#include <nsprobe/counters.h>

namespace nsdump::verify
{
namespace
{
struct Source {
    const char *name;
    nsp_counter_source source;
};

constexpr std::array kSources = {Source{"rdpmc", NSP_SOURCE_RDPMC},
                                 Source{"perf-read", NSP_SOURCE_PERF_READ},
                                 Source{"papi", NSP_SOURCE_PAPI}, Source{"step", NSP_SOURCE_STEP}};

// Empty: it works.
std::string refusal_of(nsp_counter_source source)
{
#ifdef NETSLICE_DISABLE
    (void)source;
    return "nsdump was built without probes (NETSLICE_DISABLE)";
#else
    return nsp_source_try(source, "instructions") == 0 ? "" : nsp_last_error();
#endif
}
} // namespace

std::vector<std::string> source_names()
{
    std::vector<std::string> names;
    for (const Source &known : kSources)
        names.emplace_back(known.name);
    return names;
}

Verdict Report::verdict() const
{
    Verdict verdict = Verdict::kUnavailable;
    for (const SourceResult &source : sources)
        for (const CheckResult &result : source.checks) {
            if (result.outcome.verdict == Verdict::kFailed)
                return Verdict::kFailed;
            if (result.outcome.verdict == Verdict::kPassed)
                verdict = Verdict::kPassed;
        }
    return verdict;
}

Report verify(const std::vector<std::string> &sources,
              const std::function<void(const std::string &)> &show)
{
    Report report;
    report.facts = read_facts("/");
    for (const Source &known : kSources) {
        if (std::find(sources.begin(), sources.end(), known.name) == sources.end())
            continue;
        SourceResult result{known.name, refusal_of(known.source), {}};
        for (const Check &check : all_checks()) {
            if (!result.refusal.empty())
                break;
            show(result.name + ": " + check.meaning);
            result.checks.push_back(
                {&check, run_check(check, known.source, truth_of(check, known.source))});
        }
        report.sources.push_back(std::move(result));
    }
    return report;
}
} // namespace nsdump::verify
