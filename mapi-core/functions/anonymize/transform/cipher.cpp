// SPDX-License-Identifier: MIT
// Cipher: OpenSSL's EVP, looked up once.
#include "anonymize/transform/cipher.hpp"

#include <stdexcept>
#include <string>

#include <openssl/evp.h>

namespace mapi::anonymize
{
struct Cipher::Context {
    EVP_CIPHER *cipher = nullptr;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    ~Context()
    {
        EVP_CIPHER_CTX_free(context);
        EVP_CIPHER_free(cipher);
    }
};

Cipher::Cipher(const char *name, std::span<const uint8_t> key)
    : context_(std::make_unique<Context>())
{
    static constexpr uint8_t kStart[EVP_MAX_IV_LENGTH] = {};
    context_->cipher = EVP_CIPHER_fetch(nullptr, name, nullptr);
    if (!context_->context || !context_->cipher ||
        size_t(EVP_CIPHER_get_key_length(context_->cipher)) != key.size() ||
        EVP_EncryptInit_ex2(context_->context, context_->cipher, key.data(), kStart, nullptr) != 1)
        throw std::runtime_error(std::string("libcrypto does not support ") + name);
    EVP_CIPHER_CTX_set_padding(context_->context, 0);
    block_bytes_ = size_t(EVP_CIPHER_get_block_size(context_->cipher));
}

Cipher::~Cipher() = default;
Cipher::Cipher(Cipher &&) noexcept = default;

Cipher Cipher::aes(std::span<const uint8_t> key, Mode mode)
{
    const std::string name =
        "AES-" + std::to_string(key.size() * 8) + (mode == Mode::kChained ? "-CBC" : "-ECB");
    return Cipher(name.c_str(), key);
}

Cipher Cipher::triple_des(std::span<const uint8_t, 24> key)
{
    return Cipher("DES-EDE3-CBC", key);
}

bool Cipher::encrypt(std::span<uint8_t> blocks)
{
    static constexpr uint8_t kStart[EVP_MAX_IV_LENGTH] = {};
    int written = 0;
    return EVP_EncryptInit_ex2(context_->context, nullptr, nullptr, kStart, nullptr) == 1 &&
           EVP_EncryptUpdate(context_->context, blocks.data(), &written, blocks.data(),
                             int(blocks.size())) == 1 &&
           size_t(written) == blocks.size();
}
} // namespace mapi::anonymize
