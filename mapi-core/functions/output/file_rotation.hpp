// SPDX-License-Identifier: MIT
// File rotation: "size=10M,time=60,files=5" -> when a packet file ends, and how many files there
// are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mapi::functions
{
struct FileRotation {
    static constexpr unsigned kFilesMax = 1000;

    uint64_t bytes = 0; // 0: no size limit
    uint64_t ns = 0;    // since the file's first packet; 0: no time limit
    unsigned files = 0; // the first file is reused after the last

    // The name of one of the files, counted from 0: the number is inserted before the extension, as
    // in "found_03.pcapng".
    std::string name(const std::string &path, unsigned file) const;
};

constexpr const char *kFileRotationForm = "size=BYTES (k, M, G), time=SECONDS, or both, and "
                                          "files=COUNT from 2 to 1000, separated by commas";

// Returns nullopt if the text is malformed, has neither size nor time, or asks for fewer than two
// files.
std::optional<FileRotation> parse_file_rotation(std::string_view text);
} // namespace mapi::functions
