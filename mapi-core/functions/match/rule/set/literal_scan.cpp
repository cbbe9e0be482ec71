// SPDX-License-Identifier: MIT
// Literal scan: which literal is searched in which way.
#include "match/rule/set/literal_scan.hpp"

#include <algorithm>
#include <bit>

namespace mapi::match::rule
{
namespace
{
constexpr size_t kLongBytes = 7;      // from here on a table looks at every fourth place at most
constexpr size_t kMostSingles = 6;    // more short literals are found faster by a table
constexpr uint32_t kBitsOfPlace = 64; // of the table: one word of a text in 64 is looked at
constexpr uint32_t kFewestBits = 1024;
constexpr uint32_t kFewestSlots = 16;

// Common bytes make bad words: they are looked at more often.
uint32_t commonness_of(uint8_t byte)
{
    if (byte == 0 || byte == 0xff || byte == ' ')
        return 8;
    if (byte == 0x90 || byte == 'A')
        return 6;
    if (std::string_view("etaoinsr/").find(char(byte | 0x20)) != std::string_view::npos)
        return 4;
    return byte >= 0x20 && byte < 0x7f ? 2 : 1;
}

// Where the `count` successive words begin that are least common.
size_t best_begin(std::string_view text, size_t count)
{
    const size_t bytes = count + WordTable::kWordBytes - 1;
    size_t best = 0;
    uint32_t least = UINT32_MAX;
    for (size_t begin = 0; begin + bytes <= text.size(); ++begin) {
        uint32_t sum = 0;
        for (size_t i = begin; i < begin + bytes; ++i)
            sum += commonness_of(uint8_t(text[i]));
        if (sum < least) {
            least = sum;
            best = begin;
        }
    }
    return best;
}

uint32_t shift_for(uint32_t count, uint32_t fewest)
{
    return 32 - uint32_t(std::bit_width(std::bit_ceil(std::max(count, fewest)) - 1));
}
} // namespace

WordTable::WordTable(const std::vector<Literal> &literals)
{
    if (literals.empty())
        return;
    size_t shortest = SIZE_MAX;
    for (const Literal &literal : literals)
        shortest = std::min(shortest, literal.text.size());
    stride_ = uint32_t(std::min<size_t>(shortest - kWordBytes + 1, kMostStride));
    for (const Literal &literal : literals) {
        const size_t begin = best_begin(literal.text, stride_);
        for (size_t i = begin; i < begin + stride_; ++i) {
            const auto *at = reinterpret_cast<const uint8_t *>(literal.text.data()) + i;
            places_.push_back({load(at), uint32_t(literals_.size()), uint32_t(i)});
        }
        literals_.emplace_back(literal.text);
        ids_.push_back(literal.id);
    }
    const auto count = uint32_t(places_.size());
    shift_ = shift_for(count * kBitsOfPlace, kFewestBits);
    slot_shift_ = shift_for(count, kFewestSlots);
    bits_.resize((size_t{1} << (32 - shift_)) / 64);
    slots_.resize((size_t{1} << (32 - slot_shift_)) + 1);
    const auto slot_of = [this](const Place &place) {
        return place.word * 0x85ebca6bu >> slot_shift_;
    };
    std::stable_sort(places_.begin(), places_.end(),
                     [&](const Place &a, const Place &b) { return slot_of(a) < slot_of(b); });
    for (const Place &place : places_) {
        const uint32_t hash = hash_of(place.word);
        bits_[hash / 64] |= uint64_t{1} << hash % 64;
        ++slots_[slot_of(place) + 1];
    }
    for (size_t i = 1; i < slots_.size(); ++i)
        slots_[i] += slots_[i - 1];
}

uint64_t WordTable::memory_bytes() const
{
    uint64_t bytes = bits_.capacity() * sizeof(uint64_t) + slots_.capacity() * sizeof(uint32_t) +
                     places_.capacity() * sizeof(Place);
    for (const std::string &literal : literals_)
        bytes += sizeof(literal) + literal.capacity() + sizeof(uint32_t);
    return bytes;
}

bool WordTable::is_at(std::span<const uint8_t> text, size_t begin, const std::string &literal) const
{
    if (text.size() - begin < literal.size())
        return false;
    return std::equal(literal.begin(), literal.end(), text.begin() + long(begin),
                      [](char a, uint8_t b) { return (uint8_t(a) | 0x20) == (b | 0x20); });
}

LiteralScan::LiteralScan(const std::vector<Wanted> &wanted)
{
    std::vector<WordTable::Literal> shorter, longer;
    std::vector<Single> exact_shorter;
    for (const Wanted &one : wanted) {
        const std::string_view text = one.requirement.text;
        if (one.requirement.kind == Requirement::Kind::kFixedLiteral)
            add_fixed(one);
        else if (text.size() >= kLongBytes)
            longer.push_back({text, one.id});
        else if (text.size() < WordTable::kWordBytes)
            (one.requirement.ignores_case ? folded_singles_ : singles_)
                .push_back({std::string(text), one.id});
        else if (one.requirement.ignores_case)
            shorter.push_back({text, one.id});
        else
            exact_shorter.push_back({std::string(text), one.id});
    }
    if (shorter.empty() && exact_shorter.size() <= kMostSingles) {
        singles_.insert(singles_.end(), exact_shorter.begin(), exact_shorter.end());
    } else {
        for (const Single &single : exact_shorter)
            shorter.push_back({single.text, single.id});
    }
    short_ = WordTable(shorter);
    long_ = WordTable(longer);
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
    uint64_t bytes = short_.memory_bytes() + long_.memory_bytes();
    for (const FixedWords &words : fixed_)
        bytes += sizeof(words) + words.ids.capacity() * sizeof(words.ids.front());
    return bytes + (singles_.size() + folded_singles_.size()) * sizeof(Single);
}
} // namespace mapi::match::rule
