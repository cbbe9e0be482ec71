// SPDX-License-Identifier: MIT
// Literal scan: which literal is searched in which way.
#include "match/rule/set/literal_scan.hpp"

#include <algorithm>

namespace mapi::match::rule
{
namespace
{
constexpr size_t kLongBytes = 7;    // from here on a table looks at every fourth place at most
constexpr size_t kMostNibbles = 48; // more would share buckets and be candidates too often
} // namespace

LiteralScan::LiteralScan(const std::vector<Wanted> &wanted)
{
    std::vector<Wanted> shorter, longer;
    for (const Wanted &one : wanted) {
        if (one.requirement.kind == Requirement::Kind::kFixedLiteral)
            add_fixed(one);
        else if (one.requirement.text.size() >= kLongBytes)
            longer.push_back(one);
        else
            shorter.push_back(one);
    }
    if (!NibbleScan::is_supported() || shorter.size() > kMostNibbles) {
        add_words(shorter, short_);
    } else if (shorter.size() + longer.size() <= kMostNibbles) {
        shorter.insert(shorter.end(), longer.begin(), longer.end());
        longer.clear();
        add_nibbles(shorter);
    } else {
        add_nibbles(shorter);
    }
    add_words(longer, long_);
}

void LiteralScan::add_single(const Wanted &wanted)
{
    (wanted.requirement.ignores_case ? folded_singles_ : singles_)
        .push_back({std::string(wanted.requirement.text), wanted.id});
}

void LiteralScan::add_nibbles(const std::vector<Wanted> &wanted)
{
    std::vector<NibbleScan::Literal> literals;
    for (const Wanted &one : wanted) {
        if (one.requirement.text.size() < 2)
            add_single(one);
        else
            literals.push_back({one.requirement.text, one.requirement.ignores_case, one.id});
    }
    nibbles_ = NibbleScan(std::move(literals));
}

void LiteralScan::add_words(const std::vector<Wanted> &wanted, WordTable &table)
{
    std::vector<WordTable::Literal> literals;
    for (const Wanted &one : wanted) {
        if (one.requirement.text.size() < WordTable::kWordBytes)
            add_single(one);
        else
            literals.push_back({one.requirement.text, one.id});
    }
    table = WordTable(literals);
}

void LiteralScan::add_fixed(const Wanted &wanted)
{
    const std::string_view text = wanted.requirement.text;
    FixedWords words;
    words.offset = wanted.requirement.offset;
    words.bytes = uint32_t(std::min<size_t>(text.size(), sizeof(uint32_t)));
    const uint8_t ones[sizeof(uint32_t)] = {0xff, 0xff, 0xff, 0xff};
    uint32_t word = 0;
    std::memcpy(&words.mask, ones, words.bytes);
    std::memcpy(&word, text.data(), words.bytes);
    word = (word | WordTable::kCaseBits) & words.mask;
    const auto is_same = [&](const FixedWords &other) {
        return other.offset == words.offset && other.bytes == words.bytes;
    };
    auto place = std::find_if(fixed_.begin(), fixed_.end(), is_same);
    if (place == fixed_.end())
        place = fixed_.insert(place, std::move(words));
    place->seen |= uint64_t{1} << FixedWords::bit_of(word);
    place->ids.emplace_back(word, wanted.id);
}

uint64_t LiteralScan::memory_bytes() const
{
    uint64_t bytes = nibbles_.memory_bytes() + short_.memory_bytes() + long_.memory_bytes();
    for (const FixedWords &words : fixed_)
        bytes += sizeof(words) + words.ids.capacity() * sizeof(words.ids.front());
    return bytes + (singles_.size() + folded_singles_.size()) * sizeof(Single);
}
} // namespace mapi::match::rule
