// SPDX-License-Identifier: MIT
// Decoder: packed bytes -> unpacked ones, for one member: what one run of the compressor wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace mapi::drivers
{
// What is still to be taken, and the room that is still to be filled.
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

// What a file may ask for, so that a small one cannot take all memory.
constexpr size_t kMostMemoryBytes = size_t(128) << 20;

class TooMuchMemory : public std::runtime_error
{
public:
    TooMuchMemory() : std::runtime_error("more than " + std::to_string(kMostMemoryBytes >> 20) + " MiB of memory are required") {}
};

class Decoder
{
public:
    virtual ~Decoder() = default;
    // Takes and gives what it can; true at the member's end.  Throws std::runtime_error with the reason alone, where it may have
    // given some bytes before.
    virtual bool step(PackedBytes &packed, Room &room) = 0;
    // What it holds.
    virtual uint64_t memory_bytes() const = 0;
};

// Each throws std::bad_alloc.
std::unique_ptr<Decoder> make_gzip_decoder();
std::unique_ptr<Decoder> make_xz_decoder();
std::unique_ptr<Decoder> make_zstd_decoder();
std::unique_ptr<Decoder> make_bzip2_decoder();
} // namespace mapi::drivers
