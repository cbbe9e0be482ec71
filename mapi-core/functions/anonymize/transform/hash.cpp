// SPDX-License-Identifier: MIT
// Hash: HASHED: a field -> its digest, with or without a key, or its encryption.
#include <algorithm>
#include <stdexcept>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <zlib.h>

#include "anonymize/bytes.hpp"
#include "anonymize/transform/cipher.hpp"
#include "anonymize/transform/transformer.hpp"

namespace mapi::anonymize
{
namespace
{
constexpr uint8_t kPadding = '0'; // the digit, as in MAPI 2

template <auto release> struct Release {
    template <class Object> void operator()(Object *object) const { release(object); }
};

const char *digest_name(HashAlgorithm hash)
{
    switch (hash) {
    case HashAlgorithm::kMd5: return "MD5";
    case HashAlgorithm::kSha: return "SHA1";
    default: return "SHA256";
    }
}

// Writes a digest into the field, which may take the digest's length.
class Digest : public Transformer
{
public:
    explicit Digest(Padding padding) : padding_(padding) {}

    Outcome transform(std::span<uint8_t> field, std::vector<uint8_t> &other) override
    {
        if (!digest(field, other))
            return Outcome::kUnknown;
        if (padding_ == Padding::kStripRest || field.size() <= other.size())
            return Outcome::kOther;
        const auto rest = std::ranges::copy(other, field.begin()).out;
        if (padding_ == Padding::kZero)
            std::fill(rest, field.end(), kPadding);
        return Outcome::kInPlace;
    }

private:
    virtual bool digest(std::span<const uint8_t> field, std::vector<uint8_t> &out) = 0;

    Padding padding_;
};

class PlainDigest : public Digest
{
public:
    explicit PlainDigest(const Rule &rule)
        : Digest(rule.padding), digest_(EVP_MD_fetch(nullptr, digest_name(rule.hash), nullptr)),
          context_(EVP_MD_CTX_new())
    {
        if (!digest_ || !context_)
            throw std::runtime_error(std::string("libcrypto does not support ") +
                                     digest_name(rule.hash));
    }

private:
    bool digest(std::span<const uint8_t> field, std::vector<uint8_t> &out) override
    {
        out.resize(size_t(EVP_MD_get_size(digest_.get())));
        return EVP_DigestInit_ex2(context_.get(), digest_.get(), nullptr) == 1 &&
               EVP_DigestUpdate(context_.get(), field.data(), field.size()) == 1 &&
               EVP_DigestFinal_ex(context_.get(), out.data(), nullptr) == 1;
    }

    std::unique_ptr<EVP_MD, Release<EVP_MD_free>> digest_;
    std::unique_ptr<EVP_MD_CTX, Release<EVP_MD_CTX_free>> context_;
};

// HMAC (RFC 2104): without the key, digests of guessed fields cannot be compared.
class KeyedDigest : public Digest
{
public:
    explicit KeyedDigest(const Rule &rule) : Digest(rule.padding), key_(rule.key)
    {
        std::unique_ptr<EVP_MAC, Release<EVP_MAC_free>> mac(
            EVP_MAC_fetch(nullptr, "HMAC", nullptr));
        context_.reset(mac ? EVP_MAC_CTX_new(mac.get()) : nullptr);
        std::string name = digest_name(rule.hash);
        const OSSL_PARAM parameters[] = {
            OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.data(), 0),
            OSSL_PARAM_construct_end()};
        if (!context_ || EVP_MAC_init(context_.get(), key_.data(), key_.size(), parameters) != 1)
            throw std::runtime_error("libcrypto does not support HMAC with " + name);
    }

private:
    bool digest(std::span<const uint8_t> field, std::vector<uint8_t> &out) override
    {
        size_t written = 0;
        out.resize(EVP_MAX_MD_SIZE);
        if (EVP_MAC_init(context_.get(), key_.data(), key_.size(), nullptr) != 1 ||
            EVP_MAC_update(context_.get(), field.data(), field.size()) != 1 ||
            EVP_MAC_final(context_.get(), out.data(), &written, out.size()) != 1)
            return false;
        out.resize(written);
        return true;
    }

    std::vector<uint8_t> key_;
    std::unique_ptr<EVP_MAC_CTX, Release<EVP_MAC_CTX_free>> context_;
};

class Crc32 : public Digest
{
public:
    using Digest::Digest;

private:
    bool digest(std::span<const uint8_t> field, std::vector<uint8_t> &out) override
    {
        out.resize(4);
        put_word(out.data(), uint32_t(crc32(0, field.data(), uInt(field.size()))));
        return true;
    }
};

// Keeps the field's length.  A field shorter than a block becomes the start of its encrypted block
// and cannot be decrypted.
class Encrypted : public Transformer
{
public:
    explicit Encrypted(Cipher cipher) : cipher_(std::move(cipher)) {}

    Outcome transform(std::span<uint8_t> field, std::vector<uint8_t> &other) override
    {
        const size_t block = cipher_.block_bytes();
        other.assign(field.begin(), field.end());
        other.resize((field.size() + block - 1) / block * block);
        if (!cipher_.encrypt(other))
            return Outcome::kUnknown;
        std::copy_n(other.begin(), field.size(), field.begin());
        return Outcome::kInPlace;
    }

private:
    Cipher cipher_;
};
} // namespace

std::unique_ptr<Transformer> make_hash(const Rule &rule, Tables &tables)
{
    const std::span<const uint8_t> key =
        rule.key.empty() ? std::span<const uint8_t>(tables.cipher_key()) : rule.key;
    switch (rule.hash) {
    case HashAlgorithm::kAes:
        return std::make_unique<Encrypted>(Cipher::aes(key, Cipher::Mode::kChained));
    case HashAlgorithm::kTripleDes:
        return std::make_unique<Encrypted>(Cipher::triple_des(key.first<24>()));
    case HashAlgorithm::kCrc32: return std::make_unique<Crc32>(rule.padding);
    default: break;
    }
    if (rule.key.empty())
        return std::make_unique<PlainDigest>(rule);
    return std::make_unique<KeyedDigest>(rule);
}
} // namespace mapi::anonymize
