// SPDX-License-Identifier: MIT
// Tables: the values that rules remember.  All rules of a program share one, so that a host is the
// same in SRC_IP and DST_IP, in every flow and for as long as the program runs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "anonymize/transform/prefix_map.hpp"
#include "anonymize/transform/random.hpp"
#include "anonymize/transform/value_map.hpp"
#include "anonymize/vocabulary.hpp"

namespace mapi::anonymize
{
// Numbers of one kind share a counter, as in MAPI 2.
enum class Counter : uint8_t { kAddresses, kPorts, kWords, kHalves, kBytes, kCounters };

struct Distribution {
    DistributionType type;
    int64_t first, second; // minimum and maximum, or mean and standard deviation
    size_t bytes;          // of the drawn number: 1 to 4

    auto operator<=>(const Distribution &) const = default;
};

// Any thread.
class Tables
{
public:
    // The limit for all kinds together.
    static constexpr size_t kValuesMax = size_t{1} << 20;
    // Upper bound for that many values: an address of a prefix map, with its node and malloc's
    // overhead.
    static constexpr uint64_t memory_bytes(size_t values) { return values * uint64_t(128); }

    // A seed makes everything reproducible.  Throws std::runtime_error.
    explicit Tables(std::optional<uint64_t> seed = std::nullopt, size_t values_max = kValuesMax);

    // 1 for the first value, 2 for the second, ...; 0 for all new ones when the table is full.
    uint32_t number_of(Counter counter, std::span<const uint8_t> value);
    // Drawn when the value first occurs; each time when the table is full.
    uint32_t draw_of(const Distribution &distribution, std::span<const uint8_t> value);
    // 4 or 16 bytes, in place.
    bool anonymize_prefix(std::span<uint8_t> address);

    // Its own secret, for rules without a key.
    std::span<const uint8_t, 32> address_key() const { return address_key_; }
    std::span<const uint8_t, 32> cipher_key() const { return cipher_key_; }

    // Occurrences of values for which there was no place.
    uint64_t not_kept() const;

private:
    uint32_t draw(const Distribution &distribution);
    ValueMap *drawn_of(const Distribution &distribution);

    mutable std::mutex mutex_;
    PlacesLeft places_;
    Random random_;
    std::array<uint8_t, 32> address_key_, cipher_key_;
    std::array<ValueMap, size_t(Counter::kCounters)> numbers_;
    std::map<Distribution, ValueMap> drawn_;
    PrefixMap ipv4_, ipv6_;
    uint64_t not_kept_ = 0;
};
} // namespace mapi::anonymize
