// SPDX-License-Identifier: MIT
// Random: bytes that nobody can foretell from those before, out of ChaCha20; the same ones again for the same seed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace mapi::anonymize
{
// Not for two threads at once.
class Random
{
public:
    // Without a seed, of the system's entropy.  Throws std::runtime_error.
    explicit Random(std::optional<uint64_t> seed = std::nullopt);
    ~Random();
    Random(Random &&) noexcept;

    void fill(std::span<uint8_t> bytes);
    uint64_t next();
    // From 0 to bound - 1, each as likely.
    uint64_t below(uint64_t bound);
    // At least 0 and less than 1.
    double fraction();
    // Mean 0, deviation 1.
    double normal();

private:
    struct Stream;
    void refill();

    std::unique_ptr<Stream> stream_;
    std::array<uint8_t, 1024> bytes_;
    size_t used_ = sizeof bytes_;
};
} // namespace mapi::anonymize
