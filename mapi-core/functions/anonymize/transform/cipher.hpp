// SPDX-License-Identifier: MIT
// Cipher: AES or triple DES with one key, over whole blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace mapi::anonymize
{
// Not thread-safe.
class Cipher
{
public:
    enum class Mode {
        kSingleBlocks, // each block separately (ECB): a function of blocks
        kChained, // each depends on the previous ones (CBC, zero IV): hides equal blocks of a text
    };

    // AES for keys of 16, 24 and 32 bytes.  Throw std::runtime_error.
    static Cipher aes(std::span<const uint8_t> key, Mode mode);
    static Cipher triple_des(std::span<const uint8_t, 24> key);

    ~Cipher();
    Cipher(Cipher &&) noexcept;

    size_t block_bytes() const { return block_bytes_; }
    // In place; a whole number of blocks.  Returns false if libcrypto failed.
    bool encrypt(std::span<uint8_t> blocks);

private:
    struct Context;
    Cipher(const char *name, std::span<const uint8_t> key);

    std::unique_ptr<Context> context_;
    size_t block_bytes_;
};
} // namespace mapi::anonymize
