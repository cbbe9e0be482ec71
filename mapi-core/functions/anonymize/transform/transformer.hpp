// SPDX-License-Identifier: MIT
// Transformer: the bytes of one field -> their replacement by a rule.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "anonymize/rule.hpp"
#include "anonymize/transform/tables.hpp"

namespace mapi::anonymize
{
// Not thread-safe.
class Transformer
{
public:
    enum class Outcome {
        kInPlace, // the field's bytes have been changed
        kOther,   // `other` has the new value, of any length
        kUnknown, // the new value could not be determined
    };

    virtual ~Transformer() = default;
    // `field` is not empty, `other` is.
    virtual Outcome transform(std::span<uint8_t> field, std::vector<uint8_t> &other) = 0;
};

// For rules whose method transforms the bytes of a field: not UNCHANGED, STRIP, CHECKSUM_ADJUST.
// The tables must outlive it.  A seed makes RANDOM's bytes reproducible.  Throws
// std::runtime_error.
std::unique_ptr<Transformer> make_transformer(const Rule &rule, Tables &tables,
                                              std::optional<uint64_t> seed);

// Steps of make_transformer().
std::unique_ptr<Transformer> make_zero();
std::unique_ptr<Transformer> make_pattern(const Rule &rule);
std::unique_ptr<Transformer> make_random(std::optional<uint64_t> seed);
std::unique_ptr<Transformer> make_filename_random(std::optional<uint64_t> seed);
std::unique_ptr<Transformer> make_replace(const Rule &rule);
std::unique_ptr<Transformer> make_map(const Rule &rule, Tables &tables);
std::unique_ptr<Transformer> make_map_distribution(const Rule &rule, Tables &tables);
std::unique_ptr<Transformer> make_prefix_preserving(const Rule &rule, Tables &tables);
std::unique_ptr<Transformer> make_prefix_preserving_map(Tables &tables);
std::unique_ptr<Transformer> make_hash(const Rule &rule, Tables &tables);
std::unique_ptr<Transformer> make_substitution(const Rule &rule);
} // namespace mapi::anonymize
