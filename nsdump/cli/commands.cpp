// SPDX-License-Identifier: MIT
// cli: the list of commands, in the order of --help.
#include "cli/commands.hpp"

namespace nsdump
{
std::span<const Command *const> all_commands()
{
    static constexpr const Command *kCommands[] = {&kRecord, &kKernel, &kSnapshot, &kShow,
                                                   &kStats,  &kExport, &kCheck,    &kCounters};
    return kCommands;
}
} // namespace nsdump
