// SPDX-License-Identifier: MIT
// Fill: ZERO, PATTERN_FILL, RANDOM, FILENAME_RANDOM and REPLACE: bytes that depend only on the
// number of the old ones.
#include <algorithm>

#include "anonymize/transform/random.hpp"
#include "anonymize/transform/transformer.hpp"

namespace mapi::anonymize
{
namespace
{
class Pattern : public Transformer
{
public:
    explicit Pattern(std::string pattern) : pattern_(std::move(pattern)) {}

    Outcome transform(std::span<uint8_t> field, std::vector<uint8_t> &) override
    {
        for (size_t i = 0; i < field.size(); ++i)
            field[i] = uint8_t(pattern_[i % pattern_.size()]);
        return Outcome::kInPlace;
    }

private:
    std::string pattern_;
};

class RandomBytes : public Transformer
{
public:
    explicit RandomBytes(std::optional<uint64_t> seed) : random_(seed) {}

    Outcome transform(std::span<uint8_t> field, std::vector<uint8_t> &) override
    {
        random_.fill(field);
        return Outcome::kInPlace;
    }

private:
    Random random_;
};

// Randomizes up to the last dot; the extension stays, as it shows the file type.
class RandomFilename : public Transformer
{
public:
    explicit RandomFilename(std::optional<uint64_t> seed) : random_(seed) {}

    Outcome transform(std::span<uint8_t> field, std::vector<uint8_t> &) override
    {
        static constexpr std::string_view kLetters =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        const auto dot = std::find(field.rbegin(), field.rend(), uint8_t('.'));
        const size_t end = dot == field.rend() ? field.size() : size_t(field.rend() - dot) - 1;
        for (uint8_t &byte : field.first(end))
            byte = uint8_t(kLetters[random_.below(kLetters.size())]);
        return Outcome::kInPlace;
    }

private:
    Random random_;
};

class Replacement : public Transformer
{
public:
    explicit Replacement(std::string text) : text_(std::move(text)) {}

    Outcome transform(std::span<uint8_t>, std::vector<uint8_t> &other) override
    {
        other.assign(text_.begin(), text_.end());
        return Outcome::kOther;
    }

private:
    std::string text_;
};
} // namespace

std::unique_ptr<Transformer> make_zero()
{
    return std::make_unique<Pattern>(std::string(1, '\0'));
}

std::unique_ptr<Transformer> make_pattern(const Rule &rule)
{
    return std::make_unique<Pattern>(rule.text);
}

std::unique_ptr<Transformer> make_random(std::optional<uint64_t> seed)
{
    return std::make_unique<RandomBytes>(seed);
}

std::unique_ptr<Transformer> make_filename_random(std::optional<uint64_t> seed)
{
    return std::make_unique<RandomFilename>(seed);
}

std::unique_ptr<Transformer> make_replace(const Rule &rule)
{
    return std::make_unique<Replacement>(rule.text);
}
} // namespace mapi::anonymize
