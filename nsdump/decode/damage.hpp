// SPDX-License-Identifier: MIT
// decode: damaged places of a trace -> counts, and descriptions of the first few.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nsdump
{
struct Damage {
    uint64_t offset;
    uint64_t bytes;
    std::string what;
};

class DamageLog
{
public:
    // Counts are complete; only the first places are kept, so that a hostile file cannot exhaust
    // memory.
    static constexpr size_t kKeptPlaces = 64;

    void add(uint64_t offset, uint64_t bytes, std::string what)
    {
        bytes_ += bytes;
        ++chunks_;
        if (places_.size() < kKeptPlaces)
            places_.push_back({offset, bytes, std::move(what)});
    }

    uint64_t bytes() const { return bytes_; }
    uint64_t chunks() const { return chunks_; }
    const std::vector<Damage> &places() const { return places_; }

private:
    uint64_t bytes_ = 0;
    uint64_t chunks_ = 0;
    std::vector<Damage> places_;
};
} // namespace nsdump
