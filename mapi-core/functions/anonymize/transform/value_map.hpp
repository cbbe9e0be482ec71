// SPDX-License-Identifier: MIT
// Value map: values of 1 to 16 bytes -> numbers, as long as there are places.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "anonymize/transform/places_left.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mapi::anonymize
{
class ValueMap
{
public:
    // `places` must outlive it.  The hash is seeded, so that a sender cannot choose colliding
    // values.
    ValueMap(PlacesLeft &places, uint64_t seed) : places_(places), numbers_(0, Hash{seed}) {}

    std::optional<uint32_t> find(std::span<const uint8_t> value) const
    {
        const auto found = numbers_.find(key_of(value));
        return found == numbers_.end() ? std::nullopt : std::optional(found->second);
    }
    size_t size() const { return numbers_.size(); }
    // For a value not yet in the map.  Returns false if there is no place.
    bool insert(std::span<const uint8_t> value, uint32_t number)
    {
        if (!places_.take())
            return false;
        numbers_.emplace(key_of(value), number);
        return true;
    }

private:
    struct Key {
        std::array<uint8_t, 16> bytes{};
        uint32_t length = 0;
        bool operator==(const Key &) const = default;
    };
    struct Hash {
        uint64_t seed;
        size_t operator()(const Key &key) const noexcept
        {
            return size_t(XXH3_64bits_withSeed(&key, sizeof key, seed));
        }
    };
    static Key key_of(std::span<const uint8_t> value)
    {
        Key key;
        key.length = uint32_t(std::min(value.size(), key.bytes.size()));
        std::copy_n(value.begin(), key.length, key.bytes.begin());
        return key;
    }

    PlacesLeft &places_;
    std::unordered_map<Key, uint32_t, Hash> numbers_;
};
} // namespace mapi::anonymize
