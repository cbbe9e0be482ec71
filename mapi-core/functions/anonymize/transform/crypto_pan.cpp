// SPDX-License-Identifier: MIT
// Crypto-PAn: bit n is flipped by the first bit of the AES encryption of the n bits before it.
#include "anonymize/transform/crypto_pan.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace mapi::anonymize
{
CryptoPan::CryptoPan(std::span<const uint8_t, kAddressKeyBytes> key)
    : cipher_(Cipher::aes(key.first<16>(), Cipher::Mode::kSingleBlocks))
{
    std::ranges::copy(key.subspan<16>(), pad_.begin());
    if (!cipher_.encrypt(pad_))
        throw std::runtime_error("AES failed");
}

bool CryptoPan::anonymize(std::span<uint8_t> address)
{
    const size_t bits = address.size() * 8;
    std::array<uint8_t, kBlockBytes> block = pad_;
    for (size_t bit = 0; bit < bits;
         ++bit) { // `block` has the address's first bits, then the padding
        std::memcpy(blocks_.data() + bit * kBlockBytes, block.data(), kBlockBytes);
        const uint8_t mask = uint8_t(0x80 >> bit % 8);
        block[bit / 8] = uint8_t((block[bit / 8] & ~mask) | (address[bit / 8] & mask));
    }
    if (!cipher_.encrypt({blocks_.data(), bits * kBlockBytes}))
        return false;
    for (size_t bit = 0; bit < bits; ++bit)
        address[bit / 8] =
            uint8_t(address[bit / 8] ^ (blocks_[bit * kBlockBytes] >> 7) << (7 - bit % 8));
    return true;
}
} // namespace mapi::anonymize
