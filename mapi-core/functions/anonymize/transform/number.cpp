// SPDX-License-Identifier: MIT
// Number: MAP and MAP_DISTRIBUTION: a header's number or address -> another, the same one each
// time.
#include <algorithm>

#include "anonymize/transform/transformer.hpp"

namespace mapi::anonymize
{
namespace
{
// Writes the low bytes to the end of the field.  An IPv6 address gets the documentation prefix (RFC
// 3849), as in MAPI 2.
void put_number(std::span<uint8_t> field, uint32_t number)
{
    static constexpr uint8_t kDocumentation[] = {0x20, 0x01, 0x0d, 0xb8};
    std::ranges::fill(field, uint8_t(0));
    if (field.size() == 16)
        std::ranges::copy(kDocumentation, field.begin());
    for (size_t i = field.size(); i-- > 0 && field.size() - i <= 4; number >>= 8)
        field[i] = uint8_t(number);
}

class Map : public Transformer
{
public:
    Map(Field field, Tables &tables) : field_(field), tables_(tables) {}

    Outcome transform(std::span<uint8_t> field, std::vector<uint8_t> &) override
    {
        put_number(field, tables_.number_of(counter_of(field.size()), field));
        return Outcome::kInPlace;
    }

private:
    Counter counter_of(size_t bytes) const
    {
        if (field_ == Field::kSourceAddress || field_ == Field::kDestinationAddress)
            return Counter::kAddresses;
        if (field_ == Field::kSourcePort || field_ == Field::kDestinationPort)
            return Counter::kPorts;
        return bytes == 1 ? Counter::kBytes : bytes == 2 ? Counter::kHalves : Counter::kWords;
    }

    Field field_;
    Tables &tables_;
};

class MapDistribution : public Transformer
{
public:
    MapDistribution(const Rule &rule, Tables &tables) : rule_(rule), tables_(tables) {}

    Outcome transform(std::span<uint8_t> field, std::vector<uint8_t> &) override
    {
        const Distribution distribution{rule_.distribution, rule_.first, rule_.second,
                                        std::min<size_t>(field.size(), 4)};
        put_number(field, tables_.draw_of(distribution, field));
        return Outcome::kInPlace;
    }

private:
    Rule rule_;
    Tables &tables_;
};
} // namespace

std::unique_ptr<Transformer> make_map(const Rule &rule, Tables &tables)
{
    return std::make_unique<Map>(rule.field, tables);
}

std::unique_ptr<Transformer> make_map_distribution(const Rule &rule, Tables &tables)
{
    return std::make_unique<MapDistribution>(rule, tables);
}
} // namespace mapi::anonymize
