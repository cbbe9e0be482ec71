// SPDX-License-Identifier: MIT
// analyse: what a trace says of pauses -> how often, how long, and what they left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "decode/file_reader.hpp"

namespace nsdump
{
// No losses: the recorder left records out on request.
struct Pauses {
    uint64_t count = 0;
    std::optional<uint64_t> ns; // all together; none if the recorder did not finish
    uint64_t left_out = 0;      // records; without ns, those before the last chunks

    // A sentence for people; empty if there was no pause.
    std::string words() const;
};

Pauses pauses_of(const TraceFile &trace);
} // namespace nsdump
