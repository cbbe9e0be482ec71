// SPDX-License-Identifier: MIT
// Fuzz target: an ELF file -> its functions, or an error; what matches can be chosen.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "cli/functions/choose.hpp"
#include "cli/functions/elf_functions.hpp"
#include "decode/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const std::vector<char> bytes(data, data + size); // aligned, and without anything behind it
    try {
        std::vector<nsdump::ElfObject> objects;
        objects.push_back(nsdump::read_elf_image({bytes.data(), bytes.size()}, "fuzz"));
        for (const nsdump::ElfFunction &function : objects[0].functions)
            if (function.offset >= size || function.name.empty())
                abort();
        const auto chosen = nsdump::choose_functions(objects, {"^[a-m]|::"});
        if (chosen.empty() || chosen.size() > objects[0].functions.size())
            abort();
    } catch (const nsdump::TraceError &) { // refused
    }
    return 0;
}
