// SPDX-License-Identifier: MIT
// Random: unpredictable bytes from ChaCha20; reproducible for a given seed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace mapi::anonymize
{
// Not thread-safe.
class Random
{
public:
    // Without a seed, uses the system's entropy.  Throws std::runtime_error.
    explicit Random(std::optional<uint64_t> seed = std::nullopt);
    ~Random();
    Random(Random &&) noexcept;

    void fill(std::span<uint8_t> bytes);
    uint64_t next();
    // Uniform from 0 to bound - 1.
    uint64_t below(uint64_t bound);
    // Uniform in [0, 1).
    double fraction();
    // Normal with mean 0 and deviation 1.
    double normal();

private:
    struct Stream;
    void refill();

    std::unique_ptr<Stream> stream_;
    std::array<uint8_t, 1024> bytes_;
    size_t used_ = sizeof bytes_;
};
} // namespace mapi::anonymize
