// SPDX-License-Identifier: MIT
// Crypto-PAn: address and key -> address; two that share a prefix share one of that length afterwards.
// J. Xu, J. Fan, M. Ammar, S. Moon, "Prefix-Preserving IP Address Anonymization", ICNP 2002.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "anonymize/transform/cipher.hpp"

namespace mapi::anonymize
{
constexpr size_t kAddressKeyBytes = 32;

// Not for two threads at once.
class CryptoPan
{
public:
    // The first half is AES's key, the second fills blocks up.  Throws std::runtime_error.
    explicit CryptoPan(std::span<const uint8_t, kAddressKeyBytes> key);

    // 4 or 16 bytes, in place.  False: libcrypto failed, and the address is as it was.
    bool anonymize(std::span<uint8_t> address);

private:
    static constexpr size_t kBlockBytes = 16;
    static constexpr size_t kBitsMax = 128;

    Cipher cipher_;
    std::array<uint8_t, kBlockBytes> pad_{};
    std::array<uint8_t, kBitsMax * kBlockBytes> blocks_; // one for each prefix: the processor works on many at once
};
} // namespace mapi::anonymize
