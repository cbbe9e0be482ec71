// SPDX-License-Identifier: MIT
// cli: functions of programs in a build without libelf: refused.
#include "cli/commands.hpp"
#include "cli/functions/choose.hpp"
#include "cli/functions/plan.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"

namespace nsdump
{
namespace
{
constexpr const char *kWhy =
    "this build cannot read the functions of programs (libelf was missing)";

RunCommand add(command::ArgumentSet &)
{
    return []() -> int { throw command::UsageError(kWhy); };
}
} // namespace

std::string is_function_pattern(const std::string &)
{
    return kWhy;
}

FunctionPlan plan_functions(const FunctionOptions &, const std::string &, pid_t, bool)
{
    return {};
}

void prepare_for_sleds(const FunctionPlan &) {}

const Command kFunctions = {
    "functions", "Show the functions of a program, and by which ways they can be recorded", add};
} // namespace nsdump
