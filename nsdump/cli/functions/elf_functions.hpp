// SPDX-License-Identifier: MIT
// cli: an ELF file -> its functions, and by which ways each can be recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/functions/regular_file.hpp"

namespace nsdump
{
struct ElfFunction {
    std::string name;   // demangled
    std::string symbol; // as in the file
    uint64_t address = 0;
    uint64_t offset = 0;    // in the file, where its uprobes are
    bool has_sled = false;  // of XRay
    bool has_entry = false; // -fpatchable-function-entry with enough room
    uint8_t way = 0;        // by uprobe: NSLICE_WAY_UPROBE_*, from the instruction there
};

struct ElfObject {
    std::string path; // as this process can open it
    std::string name; // for users
    std::vector<ElfFunction> functions;
    bool is_stripped = false;     // only exported functions are known
    bool is_go = false;           // moves its stacks, so that returns cannot be trapped
    bool throws = false;          // C++ exceptions
    bool switches_stacks = false; // coroutines
    std::string interpreter;      // empty: not dynamically linked
};

// All throw TraceError.
ElfObject read_elf(const std::string &path, const std::string &name);
ElfObject read_elf(RegularFile &file, const std::string &path, const std::string &name);
ElfObject read_elf_image(std::string_view bytes, const std::string &name); // without a path
} // namespace nsdump
