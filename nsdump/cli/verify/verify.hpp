// SPDX-License-Identifier: MIT
// verify: counter sources -> all checks of each -> a report that a user can send in.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/verify/check.hpp"
#include "cli/verify/facts.hpp"

namespace nsdump::verify
{
struct CheckResult {
    const Check *check;
    Outcome outcome;
};

struct SourceResult {
    std::string name;
    std::string refusal; // why the source does not work here; empty: it does
    std::vector<CheckResult> checks;
};

struct Report {
    Facts facts;
    std::vector<SourceResult> sources;

    Verdict verdict() const; // kUnavailable: not one check could be made
};

// As in --source.
std::vector<std::string> source_names();

// `show`: called with what is done next.  Throws command::Interrupted.
Report verify(const std::vector<std::string> &sources,
              const std::function<void(const std::string &)> &show);

std::string report_text(const Report &report);
std::string report_json(const Report &report); // schema netslice-verify-1
} // namespace nsdump::verify
