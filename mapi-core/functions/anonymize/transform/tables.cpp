// SPDX-License-Identifier: MIT
// Tables: bounded, the first values are kept.  If old values were evicted instead, a sender of many
// new ones could break the mapping of all others.
#include "anonymize/transform/tables.hpp"

#include <algorithm>
#include <cmath>

namespace mapi::anonymize
{
namespace
{
std::array<uint8_t, 32> secret(Random &random)
{
    std::array<uint8_t, 32> bytes;
    random.fill(bytes);
    return bytes;
}
} // namespace

Tables::Tables(std::optional<uint64_t> seed, size_t values_max)
    : places_(values_max), random_(seed), address_key_(secret(random_)),
      cipher_key_(secret(random_)), numbers_{ValueMap(places_, random_.next()),
                                             ValueMap(places_, random_.next()),
                                             ValueMap(places_, random_.next()),
                                             ValueMap(places_, random_.next()),
                                             ValueMap(places_, random_.next())},
      ipv4_(4, places_, random_), ipv6_(16, places_, random_)
{
}

uint32_t Tables::number_of(Counter counter, std::span<const uint8_t> value)
{
    const std::lock_guard lock(mutex_);
    ValueMap &map = numbers_[size_t(counter)];
    if (const auto known = map.find(value))
        return *known;
    const uint32_t number = uint32_t(map.size() + 1);
    if (map.insert(value, number))
        return number;
    ++not_kept_;
    return 0;
}

uint32_t Tables::draw(const Distribution &distribution)
{
    if (distribution.type == DistributionType::kUniform)
        return uint32_t(
            distribution.first +
            int64_t(random_.below(uint64_t(distribution.second - distribution.first) + 1)));
    const double most = std::exp2(8.0 * double(distribution.bytes)) - 1;
    const double drawn =
        double(distribution.first) + double(distribution.second) * random_.normal();
    return uint32_t(std::clamp(std::round(drawn), 0.0, most));
}

// Returns null if it is new and there is no place for it.
ValueMap *Tables::drawn_of(const Distribution &distribution)
{
    auto found = drawn_.find(distribution);
    if (found == drawn_.end() && !places_.take())
        return nullptr;
    if (found == drawn_.end())
        found = drawn_.try_emplace(distribution, places_, random_.next()).first;
    return &found->second;
}

uint32_t Tables::draw_of(const Distribution &distribution, std::span<const uint8_t> value)
{
    const std::lock_guard lock(mutex_);
    ValueMap *const map = drawn_of(distribution);
    const auto known = map ? map->find(value) : std::nullopt;
    if (known)
        return *known;
    const uint32_t number = draw(distribution);
    if (!map || !map->insert(value, number))
        ++not_kept_;
    return number;
}

bool Tables::anonymize_prefix(std::span<uint8_t> address)
{
    const std::lock_guard lock(mutex_);
    return (address.size() == 4 ? ipv4_ : ipv6_).anonymize(address);
}

uint64_t Tables::not_kept() const
{
    const std::lock_guard lock(mutex_);
    return not_kept_ + ipv4_.not_kept() + ipv6_.not_kept();
}
} // namespace mapi::anonymize
