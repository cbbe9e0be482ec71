// SPDX-License-Identifier: MIT
// Decoder: packed bytes -> unpacked bytes of one member, the output of one run of the compressor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace mapi::drivers
{
// Input that is still to be consumed, and room that is still to be filled.
struct PackedBytes {
    const uint8_t *next;
    const uint8_t *end;

    size_t bytes() const { return size_t(end - next); }
};

struct Room {
    uint8_t *next;
    uint8_t *end;

    size_t bytes() const { return size_t(end - next); }
};

// Maximum memory for a file, so that a small file cannot exhaust memory.
constexpr size_t kMostMemoryBytes = size_t(128) << 20;

class TooMuchMemory : public std::runtime_error
{
public:
    TooMuchMemory()
        : std::runtime_error("more than " + std::to_string(kMostMemoryBytes >> 20) +
                             " MiB of memory are required")
    {
    }
};

class Decoder
{
public:
    virtual ~Decoder() = default;
    // Consumes and produces as much as possible; true at the member's end.  Throws
    // std::runtime_error with only the reason; some bytes may have been produced before.
    virtual bool step(PackedBytes &packed, Room &room) = 0;
    // Memory that it uses.
    virtual uint64_t memory_bytes() const = 0;
};

// Each throws std::bad_alloc.
std::unique_ptr<Decoder> make_gzip_decoder();
std::unique_ptr<Decoder> make_xz_decoder();
std::unique_ptr<Decoder> make_zstd_decoder();
std::unique_ptr<Decoder> make_bzip2_decoder();
} // namespace mapi::drivers
