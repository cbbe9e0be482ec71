// SPDX-License-Identifier: MIT
// cli: ELF files and regular expressions -> the functions that match, and the way to record them.
#pragma once

#include <string>
#include <vector>

#include "cli/functions/elf_functions.hpp"

namespace nsdump
{
// "REGEX" or "OBJECT:REGEX": POSIX extended, found anywhere in the name; OBJECT is the beginning of
// a file name.
std::string is_function_pattern(const std::string &text); // empty if valid, else what is wrong
bool has_object(const std::string &pattern);

struct ChosenFunction {
    const ElfObject *object;
    const ElfFunction *function;
    std::string name; // for the trace, different from all others
};

// One for each address.  Throws TraceError, which names similar functions, if a pattern matches
// none.
std::vector<ChosenFunction> choose_functions(const std::vector<ElfObject> &objects,
                                             const std::vector<std::string> &patterns);

// Why these functions cannot be recorded by sleds; empty if they can.
std::string why_not_by_sleds(const std::vector<ChosenFunction> &functions);
// Why these functions must not be recorded by uprobes; empty if they may.
std::string why_not_by_uprobes(const std::vector<ChosenFunction> &functions);
} // namespace nsdump
