// SPDX-License-Identifier: MIT
// ctf: a trace -> its metadata file in TSDL, the language of CTF 1.8.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "analyse/losses.hpp"
#include "decode/file_reader.hpp"
#include "export/ctf/ctf_clock.hpp"

namespace nsdump
{
// In each packet: trace.packet.header of the metadata.
inline constexpr uint32_t kCtfMagic = 0xc1fc1fc1;

// Streams of programs and of the kernel; each CPU has one file of either.
inline uint32_t ctf_stream_id(bool is_kernel)
{
    return is_kernel;
}

// To be called when all records were read, so that ids without a site are known.
std::string ctf_metadata(const TraceFile &trace, const CtfClock &clock, const Losses &losses);
} // namespace nsdump
