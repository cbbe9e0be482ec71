// SPDX-License-Identifier: MIT
// File rotation: "size=10M,time=60,files=5" -> when a file of packets ends, and how many there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mapi::functions
{
struct FileRotation {
    static constexpr unsigned kFilesMax = 1000;

    uint64_t bytes = 0; // 0: the size does not matter
    uint64_t ns = 0;    // from the file's first packet on; 0: time does not matter
    unsigned files = 0; // the first one follows the last one again

    // The name of one of them, from 0: its number stands before the extension, as in "found_03.pcapng".
    std::string name(const std::string &path, unsigned file) const;
};

constexpr const char *kFileRotationForm = "size=BYTES (k, M, G), time=SECONDS, or both, and files=COUNT from 2 to 1000, separated by commas";

// Nothing: it is none, has neither size nor time, or less than two files.
std::optional<FileRotation> parse_file_rotation(std::string_view text);
} // namespace mapi::functions
