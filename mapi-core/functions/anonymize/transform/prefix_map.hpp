// SPDX-License-Identifier: MIT
// Prefix map: addresses -> addresses, prefix-preserving like Crypto-PAn, but by a table of past
// addresses instead of a key.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>

#include "anonymize/transform/cipher.hpp"
#include "anonymize/transform/places_left.hpp"
#include "anonymize/transform/random.hpp"

namespace mapi::anonymize
{
// Not thread-safe.
class PrefixMap
{
public:
    // `places` must outlive it.
    PrefixMap(size_t address_bytes, PlacesLeft &places, Random &random);

    // In place.  An address that finds no room in the table keeps the longest prefix that it shares
    // with one in the table; its result is the same each time, but not necessarily unique.  Returns
    // false if libcrypto failed; the address is then unchanged.
    bool anonymize(std::span<uint8_t> bytes);

    uint64_t not_kept() const { return not_kept_; } // occurrences of addresses without a place

private:
    using Address = std::array<uint8_t, 16>;
    using Entry = std::map<Address, Address>::const_iterator;

    size_t common_bits(const Address &left, const Address &right) const;
    // One of the two neighbours in order shares the longest prefix of all.
    Entry nearest(const Address &address) const;
    bool make(const Address &address, Address &made);

    size_t address_bytes_;
    PlacesLeft &places_;
    Cipher cipher_; // for addresses that share no prefix, and for the rest after one
    std::map<Address, Address> made_;
    uint64_t not_kept_ = 0;
};
} // namespace mapi::anonymize
