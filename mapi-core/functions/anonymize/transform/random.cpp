// SPDX-License-Identifier: MIT
// Random: the key stream of OpenSSL's ChaCha20.
#include "anonymize/transform/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/rand.h>

namespace mapi::anonymize
{
namespace
{
constexpr size_t kKeyBytes = 32;
constexpr uint8_t kNonce[16] = {};
} // namespace

struct Random::Stream {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    ~Stream() { EVP_CIPHER_CTX_free(context); }
};

Random::Random(std::optional<uint64_t> seed) : stream_(std::make_unique<Stream>())
{
    uint8_t key[kKeyBytes] = {};
    if (seed)
        std::memcpy(key, &*seed, sizeof *seed);
    else if (RAND_bytes(key, sizeof key) != 1)
        throw std::runtime_error("the system's random numbers are unavailable");
    if (!stream_->context ||
        EVP_EncryptInit_ex2(stream_->context, EVP_chacha20(), key, kNonce, nullptr) != 1)
        throw std::runtime_error("libcrypto does not support ChaCha20");
}

Random::~Random() = default;
Random::Random(Random &&) noexcept = default;

void Random::refill()
{
    int written = 0;
    bytes_.fill(0);
    if (EVP_EncryptUpdate(stream_->context, bytes_.data(), &written, bytes_.data(),
                          int(bytes_.size())) != 1)
        throw std::runtime_error("ChaCha20 failed");
    used_ = 0;
}

void Random::fill(std::span<uint8_t> bytes)
{
    while (!bytes.empty()) {
        if (used_ == bytes_.size())
            refill();
        const size_t part = std::min(bytes.size(), bytes_.size() - used_);
        std::memcpy(bytes.data(), bytes_.data() + used_, part);
        used_ += part;
        bytes = bytes.subspan(part);
    }
}

uint64_t Random::next()
{
    uint8_t bytes[sizeof(uint64_t)];
    fill(bytes);
    uint64_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

uint64_t Random::below(uint64_t bound)
{
    const uint64_t fair =
        UINT64_MAX - UINT64_MAX % bound; // the remainder would make small numbers more likely
    uint64_t value = next();
    while (value >= fair)
        value = next();
    return value % bound;
}

double Random::fraction()
{
    return double(next() >> 11) * 0x1p-53;
}

double Random::normal()
{
    const double radius = std::sqrt(-2 * std::log(1 - fraction()));
    return radius * std::cos(2 * std::numbers::pi * fraction());
}
} // namespace mapi::anonymize
