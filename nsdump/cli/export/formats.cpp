// SPDX-License-Identifier: MIT
// cli: the list of formats of `nsdump export`, in the order of --help.
#include "cli/export/formats.hpp"

#include "common/command/output.hpp"

namespace nsdump
{
std::span<const ExportFormat *const> all_formats()
{
    static constexpr const ExportFormat *kFormats[] = {&kCsv,    &kJson,       &kParquet,
                                                       &kCtf,    &kPerfetto,   &kChrome,
                                                       &kFolded, &kSpeedscope, &kFlameGraph};
    return kFormats;
}

const ExportFormat &format_of(const std::string &name)
{
    for (const ExportFormat *format : all_formats())
        if (name == format->name)
            return *format;
    throw command::UsageError("format \"" + name + "\": unknown format");
}
} // namespace nsdump
