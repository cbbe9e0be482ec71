// SPDX-License-Identifier: MIT
// Prefix map: addresses -> addresses, prefix preserving as Crypto-PAn, by a table of those that came and not by a key.
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
// Not for two threads at once.
class PrefixMap
{
public:
    // The places outlive it.
    PrefixMap(size_t address_bytes, PlacesLeft &places, Random &random);

    // In place.  An address that finds no place in the table keeps the longest prefix that it shares with one that has, and is the same
    // each time, but other addresses may become the same.  False: libcrypto failed, and the address is as it was.
    bool anonymize(std::span<uint8_t> address);

    uint64_t not_kept() const { return not_kept_; } // sightings of addresses without a place

private:
    using Address = std::array<uint8_t, 16>;
    using Entry = std::map<Address, Address>::const_iterator;

    size_t common_bits(const Address &left, const Address &right) const;
    // Of the neighbours in order, one shares the longest prefix of all.
    Entry nearest(const Address &address) const;
    bool make(const Address &address, Address &made);

    size_t address_bytes_;
    PlacesLeft &places_;
    Cipher cipher_; // of addresses that share no prefix, and of the rest behind one
    std::map<Address, Address> made_;
    uint64_t not_kept_ = 0;
};
} // namespace mapi::anonymize
