// SPDX-License-Identifier: MIT
// Ranking: values as they arrive -> count and bytes of each, and the most frequent ones; exact, up
// to a limit of distinct values.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "functions/flows/top_field.hpp"

namespace mapi::functions
{
class Ranking
{
public:
    struct Counts {
        uint64_t packets = 0;
        uint64_t bytes = 0;
        uint32_t rank = kUnranked;
    };
    using Row = std::pair<const FieldValue, Counts>;

    static constexpr size_t kValuesMax = 1u << 20;
    // Upper bound of the memory of that many values: two pointers and malloc's overhead each, and
    // half of the buckets empty.
    static constexpr uint64_t memory_bytes(size_t values_max = kValuesMax)
    {
        return values_max * (sizeof(Row) + 5 * sizeof(void *));
    }

    Ranking(size_t ranks, bool is_by_bytes, size_t values_max = kValuesMax);

    // Returns false if there is no room for another value.
    bool add(const FieldValue &value, uint64_t bytes);
    void clear();

    // In descending order; among equal values, the one that reached the value first.
    const std::vector<Row *> &top() const { return top_; }
    // The range [first, second) of ranks that may have changed since the last call.
    std::pair<size_t, size_t> take_changes();

private:
    static constexpr uint32_t kUnranked = UINT32_MAX;
    // Keyed, so that a sender cannot choose colliding values.
    struct Hash {
        uint64_t seed;
        size_t operator()(const FieldValue &value) const noexcept
        {
            return size_t(XXH3_64bits_withSeed(&value, sizeof value, seed));
        }
    };

    uint64_t amount(const Row &row) const
    {
        return is_by_bytes_ ? row.second.bytes : row.second.packets;
    }
    void enter(Row &row);
    void rise(Row &row);
    void note_change(size_t first, size_t last);

    const size_t ranks_;
    const bool is_by_bytes_;
    const size_t values_max_;
    std::unordered_map<FieldValue, Counts, Hash> values_;
    std::vector<Row *> top_;
    size_t changed_from_ = SIZE_MAX, changed_until_ = 0;
};
} // namespace mapi::functions
