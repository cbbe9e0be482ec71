// SPDX-License-Identifier: MIT
#include "functions/connections/bit_steps.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

namespace mapi::connections
{
namespace
{
using Kind = BitStep::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 8> kKinds = {{
    {"isset", Kind::kIsSet},
    {"isnotset", Kind::kIsNotSet},
    {"set", Kind::kSet},
    {"unset", Kind::kUnset},
    {"toggle", Kind::kToggle},
    {"setx", Kind::kSetOne},
    {"reset", Kind::kReset},
    {"noalert", Kind::kNoAlert},
}};

// As Snort 2.9 accepts them.
void check_name(const Word &name)
{
    const bool is_valid = !name.text.empty() && std::ranges::all_of(name.text, [](char letter) {
        return isalnum(static_cast<unsigned char>(letter)) ||
               std::string_view(".-_").find(letter) != std::string_view::npos;
    });
    if (!is_valid)
        throw TextError(name.offset,
                        name.quoted() +
                            " is not a name of letters, digits, \".\", \"-\" and \"_\"");
}

void read_group(const Word &name, BitNames &names, BitStep &step)
{
    check_name(name);
    BitNames::GroupUse use = names.group_of(std::string(name.text));
    if (!use.hold)
        throw TextError(name.offset, "there are already " + std::to_string(kBitsMax) +
                                         " groups of flow bits on this device");
    step.group = use.group;
    step.holds.push_back(std::move(use.hold));
}

void read_bits(const Word &text, BitNames &names, BitStep &step)
{
    const bool has_or = text.text.find('|') != std::string_view::npos;
    if (has_or && text.text.find('&') != std::string_view::npos)
        throw TextError(text.offset, "\"&\" and \"|\" cannot be mixed");
    if (has_or && !step.is_test())
        throw TextError(text.offset, "only isset and isnotset accept \"|\"");
    step.is_any = has_or;
    for (const Word &name : split(text, "&|")) {
        check_name(name);
        BitNames::Bit bit = names.bit_of(std::string(name.text));
        if (!bit.hold)
            throw TextError(name.offset, "there are already " + std::to_string(kBitsMax) +
                                             " flow bits on this device");
        step.bits.push_back(bit.number);
        step.holds.push_back(std::move(bit.hold));
        if (step.group)
            step.group->words[bit.number / 64] |= uint64_t(1) << bit.number % 64;
    }
}

bool has(const uint64_t *words, uint32_t bit)
{
    return words[bit / 64] >> bit % 64 & 1;
}

bool is_set(const BitStep &step, const uint64_t *words)
{
    if (!step.bits.empty()) {
        const auto has_bit = [words](uint32_t bit) { return has(words, bit); };
        return step.is_any ? std::ranges::any_of(step.bits, has_bit)
                           : std::ranges::all_of(step.bits, has_bit);
    }
    bool has_any = false, has_all = !step.group->is_empty();
    for (size_t i = 0; i < kBitWords; ++i) {
        const uint64_t wanted = step.group->words[i].load(std::memory_order_relaxed);
        has_any |= (words[i] & wanted) != 0;
        has_all = has_all && (words[i] & wanted) == wanted;
    }
    return step.is_any ? has_any : has_all;
}

void change(const BitStep &step, uint64_t *words)
{
    const bool is_whole_group = step.bits.empty() && step.group;
    for (size_t i = 0; i < kBitWords && (is_whole_group || step.kind == Kind::kSetOne); ++i) {
        const uint64_t group = step.group->words[i].load(std::memory_order_relaxed);
        words[i] = step.kind == Kind::kToggle ? words[i] ^ group : words[i] & ~group;
    }
    if (step.kind == Kind::kReset && !step.group)
        std::fill_n(words, kBitWords, 0);
    for (const uint32_t bit : step.bits) {
        const uint64_t mask = uint64_t(1) << bit % 64;
        uint64_t &word = words[bit / 64];
        word = step.kind == Kind::kToggle  ? word ^ mask
               : step.kind == Kind::kUnset ? word & ~mask
                                           : word | mask;
    }
}
} // namespace

bool BitStep::run(uint64_t *words) const
{
    if (kind == Kind::kNoAlert)
        return false;
    if (is_test())
        return words && is_set(*this, words) == (kind == Kind::kIsSet);
    if (words)
        change(*this, words);
    return true;
}

BitStep read_bit_step(const Word &text, BitNames &names)
{
    const size_t colon = text.text.find(':');
    const Word name = trimmed({text.text.substr(0, colon), text.offset});
    const auto kind =
        std::ranges::find(kKinds, name.text, [](const auto &row) { return row.first; });
    if (kind == kKinds.end())
        throw TextError(name.offset, name.quoted() +
                                         " is none of isset, isnotset, set, unset, toggle, setx, "
                                         "reset and noalert");
    BitStep step;
    step.kind = kind->second;
    std::vector<Word> parts;
    if (colon != std::string_view::npos)
        parts = split({text.text.substr(colon + 1), text.offset + colon + 1}, ",");
    if (step.kind == Kind::kNoAlert || (step.kind == Kind::kReset && parts.size() <= 1)) {
        if (step.kind == Kind::kNoAlert && !parts.empty())
            throw TextError(parts.front().offset, "noalert has no value");
        if (!parts.empty())
            read_group(parts.front(), names, step);
        return step;
    }
    if (parts.empty() || parts.size() > 2 || step.kind == Kind::kReset)
        throw TextError(text.offset, std::string(name.text) + " requires NAME or NAME,GROUP");
    if (parts.size() == 2)
        read_group(parts[1], names, step);
    if (step.kind == Kind::kSetOne && !step.group)
        throw TextError(text.offset, "setx requires a group: setx:NAME,GROUP");
    const bool is_all = parts[0].text == "all", is_any = parts[0].text == "any";
    if (!step.group || (!is_all && !is_any)) {
        read_bits(parts[0], names, step);
        return step;
    }
    if (step.kind == Kind::kSet || step.kind == Kind::kSetOne || (is_any && !step.is_test()))
        throw TextError(parts[0].offset, std::string(name.text) + " does not accept \"" +
                                             std::string(parts[0].text) + "\"");
    step.is_any = is_any;
    return step;
}
} // namespace mapi::connections
