// SPDX-License-Identifier: MIT
// Address: PREFIX_PRESERVING by a key, PREFIX_PRESERVING_MAP by a table.
#include <algorithm>

#include "anonymize/transform/crypto_pan.hpp"
#include "anonymize/transform/transformer.hpp"

namespace mapi::anonymize
{
namespace
{
class PrefixPreserving : public Transformer
{
public:
    explicit PrefixPreserving(std::span<const uint8_t, kAddressKeyBytes> key) : crypto_pan_(key) {}

    Outcome transform(std::span<uint8_t> field, std::vector<uint8_t> &) override
    {
        return crypto_pan_.anonymize(field) ? Outcome::kInPlace : Outcome::kUnknown;
    }

private:
    CryptoPan crypto_pan_;
};

class PrefixPreservingMap : public Transformer
{
public:
    explicit PrefixPreservingMap(Tables &tables) : tables_(tables) {}

    Outcome transform(std::span<uint8_t> field, std::vector<uint8_t> &) override
    {
        return tables_.anonymize_prefix(field) ? Outcome::kInPlace : Outcome::kUnknown;
    }

private:
    Tables &tables_;
};
} // namespace

std::unique_ptr<Transformer> make_prefix_preserving(const Rule &rule, Tables &tables)
{
    if (rule.key.empty())
        return std::make_unique<PrefixPreserving>(tables.address_key());
    return std::make_unique<PrefixPreserving>(std::span<const uint8_t, kAddressKeyBytes>(rule.key));
}

std::unique_ptr<Transformer> make_prefix_preserving_map(Tables &tables)
{
    return std::make_unique<PrefixPreservingMap>(tables);
}
} // namespace mapi::anonymize
