// SPDX-License-Identifier: MIT
// Crypto-PAn: address and key -> address; two that share a prefix share one of the same length
// afterwards.
// J. Xu, J. Fan, M. Ammar, S. Moon, "Prefix-Preserving IP Address Anonymization", ICNP 2002.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "anonymize/transform/cipher.hpp"

namespace mapi::anonymize
{
constexpr size_t kAddressKeyBytes = 32;

// Not thread-safe.
class CryptoPan
{
public:
    // The first half is the AES key, the second pads blocks.  Throws std::runtime_error.
    explicit CryptoPan(std::span<const uint8_t, kAddressKeyBytes> key);

    // 4 or 16 bytes, in place.  Returns false if libcrypto failed; the address is then unchanged.
    bool anonymize(std::span<uint8_t> address);

private:
    static constexpr size_t kBlockBytes = 16;
    static constexpr size_t kBitsMax = 128;

    Cipher cipher_;
    std::array<uint8_t, kBlockBytes> pad_{};
    std::array<uint8_t, kBitsMax * kBlockBytes>
        blocks_; // one per prefix: the processor encrypts many in parallel
};
} // namespace mapi::anonymize
