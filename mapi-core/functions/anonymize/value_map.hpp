// SPDX-License-Identifier: MIT
// Value map: values of 1 to 16 bytes -> numbers, at most so many.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mapi::anonymize
{
class ValueMap
{
public:
    // The hash has a seed, so that a sender cannot choose values that fall together.
    ValueMap(size_t values_max, uint64_t seed) : values_max_(values_max), numbers_(0, Hash{seed}) {}

    std::optional<uint32_t> find(std::span<const uint8_t> value) const
    {
        const auto found = numbers_.find(key_of(value));
        return found == numbers_.end() ? std::nullopt : std::optional(found->second);
    }
    bool is_full() const { return numbers_.size() >= values_max_; }
    size_t size() const { return numbers_.size(); }
    void insert(std::span<const uint8_t> value, uint32_t number) { numbers_.emplace(key_of(value), number); }

private:
    struct Key {
        std::array<uint8_t, 16> bytes{};
        uint32_t length = 0;
        bool operator==(const Key &) const = default;
    };
    struct Hash {
        uint64_t seed;
        size_t operator()(const Key &key) const noexcept { return size_t(XXH3_64bits_withSeed(&key, sizeof key, seed)); }
    };
    static Key key_of(std::span<const uint8_t> value)
    {
        Key key;
        key.length = uint32_t(std::min(value.size(), key.bytes.size()));
        std::copy_n(value.begin(), key.length, key.bytes.begin());
        return key;
    }

    size_t values_max_;
    std::unordered_map<Key, uint32_t, Hash> numbers_;
};
} // namespace mapi::anonymize
