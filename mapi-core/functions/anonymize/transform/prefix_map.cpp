// SPDX-License-Identifier: MIT
// Prefix map: a new address takes the mapped prefix of its nearest relative, then one different
// bit, then pseudorandom bits.
#include "anonymize/transform/prefix_map.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace mapi::anonymize
{
namespace
{
Cipher make_cipher(Random &random)
{
    std::array<uint8_t, 16> key;
    random.fill(key);
    return Cipher::aes(key, Cipher::Mode::kSingleBlocks);
}

bool bit_of(const std::array<uint8_t, 16> &address, size_t bit)
{
    return address[bit / 8] >> (7 - bit % 8) & 1;
}

void put_bit(std::array<uint8_t, 16> &address, size_t bit, bool value)
{
    const uint8_t mask = uint8_t(0x80 >> bit % 8);
    address[bit / 8] = uint8_t(value ? address[bit / 8] | mask : address[bit / 8] & ~mask);
}
} // namespace

PrefixMap::PrefixMap(size_t address_bytes, PlacesLeft &places, Random &random)
    : address_bytes_(address_bytes), places_(places), cipher_(make_cipher(random))
{
}

size_t PrefixMap::common_bits(const Address &left, const Address &right) const
{
    for (size_t i = 0; i < address_bytes_; ++i)
        if (left[i] != right[i])
            return i * 8 + size_t(std::countl_zero(uint8_t(left[i] ^ right[i])));
    return address_bytes_ * 8;
}

PrefixMap::Entry PrefixMap::nearest(const Address &address) const
{
    const Entry above = made_.lower_bound(address);
    if (above == made_.begin())
        return above;
    const Entry below = std::prev(above);
    if (above == made_.end())
        return below;
    return common_bits(address, above->first) >= common_bits(address, below->first) ? above : below;
}

bool PrefixMap::make(const Address &address, Address &made)
{
    made = address;
    if (!cipher_.encrypt(made))
        return false;
    const Entry relative = nearest(address);
    if (relative == made_.end())
        return true;
    const size_t shared = common_bits(address, relative->first);
    for (size_t bit = 0; bit < shared; ++bit)
        put_bit(made, bit, bit_of(relative->second, bit));
    put_bit(made, shared, !bit_of(relative->second, shared));
    return true;
}

bool PrefixMap::anonymize(std::span<uint8_t> bytes)
{
    Address address{}, made{};
    std::ranges::copy(bytes, address.begin());
    if (const Entry known = made_.find(address); known != made_.end()) {
        made = known->second;
    } else {
        if (!make(address, made))
            return false;
        if (places_.take())
            made_.emplace(address, made);
        else
            ++not_kept_;
    }
    std::copy_n(made.begin(), bytes.size(), bytes.begin());
    return true;
}
} // namespace mapi::anonymize
