// SPDX-License-Identifier: MIT
// cli: the table of formats of `nsdump export`; a format is one file and one line in formats.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/export/export_options.hpp"

namespace nsdump
{
// An option that a format cannot take.
struct NotTaken {
    const char *option; // its long name
    const char *remedy;
};

struct ExportFormat {
    const char *name;
    const char *summary;                        // for --help
    std::vector<std::string> what;              // values of --what that it takes, the default first
    int (*write)(const ExportOptions &options); // returns the exit code
    bool writes_folder = false;                 // which -o must name
    std::vector<NotTaken> not_taken = {};
};

extern const ExportFormat kCsv;
extern const ExportFormat kJson;
extern const ExportFormat kCtf;
extern const ExportFormat kFolded;
extern const ExportFormat kSpeedscope;
extern const ExportFormat kFlameGraph;
extern const ExportFormat kPerfetto;
extern const ExportFormat kChrome;
extern const ExportFormat kParquet;

std::span<const ExportFormat *const> all_formats();
// Throws UsageError for an unknown name.
const ExportFormat &format_of(const std::string &name);
} // namespace nsdump
