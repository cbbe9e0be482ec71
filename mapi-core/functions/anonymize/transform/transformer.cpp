// SPDX-License-Identifier: MIT
// Transformer: selects the one that a rule requires.
#include "anonymize/transform/transformer.hpp"

#include <stdexcept>

namespace mapi::anonymize
{
std::unique_ptr<Transformer> make_transformer(const Rule &rule, Tables &tables,
                                              std::optional<uint64_t> seed)
{
    switch (rule.method) {
    case Method::kZero: return make_zero();
    case Method::kPatternFill: return make_pattern(rule);
    case Method::kRandom: return make_random(seed);
    case Method::kFilenameRandom: return make_filename_random(seed);
    case Method::kReplace: return make_replace(rule);
    case Method::kMap: return make_map(rule, tables);
    case Method::kMapDistribution: return make_map_distribution(rule, tables);
    case Method::kPrefixPreserving: return make_prefix_preserving(rule, tables);
    case Method::kPrefixPreservingMap: return make_prefix_preserving_map(tables);
    case Method::kHashed: return make_hash(rule, tables);
    case Method::kRegexp: return make_substitution(rule);
    case Method::kUnchanged:
    case Method::kStrip:
    case Method::kChecksumAdjust: break;
    }
    throw std::runtime_error("cannot be applied to the bytes of a field: " +
                             std::string(name_of(rule.method)));
}
} // namespace mapi::anonymize
