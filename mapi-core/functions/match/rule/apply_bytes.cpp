// SPDX-License-Identifier: MIT
// Apply: byte_test, byte_jump, byte_extract, byte_math, isdataat.  A number that is not wholly in
// the buffer does not match, negated or not.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "match/rule/state.hpp"

namespace mapi::match::rule
{
namespace
{
using Bytes = std::span<const uint8_t>;

constexpr size_t kMostTextBytes = 10;

struct Extracted {
    Bytes buffer;
    Buffer name = Buffer::kPayload;
    size_t begin = 0, end = 0; // of the number
    uint32_t value = 0;
};

// The place that an offset means, not beyond the buffer's end.
std::optional<size_t> place_of(const State &state, Buffer name, Bytes buffer, bool is_relative,
                               const Number &offset)
{
    const bool is_from_cursor = is_relative && state.has_cursor;
    if (is_from_cursor && (state.cursor_buffer != name || state.cursor > buffer.size()))
        return std::nullopt;
    const int64_t place = (is_from_cursor ? int64_t(state.cursor) : 0) + state.value_of(offset);
    if (place < 0 || place > int64_t(buffer.size()))
        return std::nullopt;
    return size_t(place);
}

// Returns the bytes that the number has.
std::optional<size_t> read_text(Bytes bytes, const Extraction &extraction, uint32_t &value)
{
    char text[kMostTextBytes + 1] = {};
    const size_t count = std::min({bytes.size(), size_t(extraction.bytes), kMostTextBytes});
    std::copy_n(bytes.begin(), count, text);
    char *end = text;
    value = uint32_t(std::strtoull(text, &end, extraction.base));
    return end == text ? std::nullopt : std::optional(size_t(end - text));
}

std::optional<size_t> read_binary(Bytes bytes, const Extraction &extraction, uint32_t &value)
{
    if (bytes.size() < extraction.bytes)
        return std::nullopt;
    value = 0;
    for (uint32_t i = 0; i < extraction.bytes; ++i)
        value |= uint32_t(bytes[i])
                 << 8 * (extraction.is_little_endian ? i : extraction.bytes - 1 - i);
    return extraction.bytes;
}

std::optional<Extracted> extract(const Extraction &extraction, PacketTexts &texts,
                                 const State &state)
{
    const Buffer name = state.buffer_of(extraction.is_relative);
    const auto buffer = texts.text(name);
    if (!buffer)
        return std::nullopt;
    const auto place = place_of(state, name, *buffer, extraction.is_relative, extraction.offset);
    if (!place)
        return std::nullopt;
    Extracted found{*buffer, name, *place, *place, 0};
    if (extraction.bytes != 0) {
        const Bytes rest = buffer->subspan(*place);
        const auto taken = extraction.is_text ? read_text(rest, extraction, found.value)
                                              : read_binary(rest, extraction, found.value);
        if (!taken)
            return std::nullopt;
        found.end += *taken;
    }
    if (extraction.bitmask != 0)
        found.value = (found.value & extraction.bitmask) >> std::countr_zero(extraction.bitmask);
    return found;
}

bool compare(ByteTest::Operator comparison, uint32_t value, uint32_t with)
{
    using enum ByteTest::Operator;
    switch (comparison) {
    case kLess: return value < with;
    case kLessEqual: return value <= with;
    case kEqual: return value == with;
    case kGreaterEqual: return value >= with;
    case kGreater: return value > with;
    case kAnd: return (value & with) != 0;
    case kXor: return (value ^ with) != 0;
    }
    return false;
}

// Nullopt: the result is less than zero, does not fit into 32 bits, or does not exist.
std::optional<uint32_t> calculated(ByteMath::Operator operation, uint32_t value, uint32_t operand)
{
    constexpr uint32_t kShiftBits = 31; // of the operand that have an effect, as on x86
    using enum ByteMath::Operator;
    uint64_t result = 0;
    switch (operation) {
    case kAdd: result = uint64_t{value} + operand; break;
    case kSubtract: result = uint64_t{value} - operand; break;
    case kMultiply: result = uint64_t{value} * operand; break;
    case kDivide:
        if (operand == 0)
            return std::nullopt;
        result = value / operand;
        break;
    case kShiftLeft: return value << (operand & kShiftBits);
    case kShiftRight: return value >> (operand & kShiftBits);
    }
    return result <= UINT32_MAX ? std::optional(uint32_t(result)) : std::nullopt;
}

uint32_t aligned(uint32_t value, uint32_t alignment)
{
    return value % alignment == 0 ? value : value + alignment - value % alignment;
}
} // namespace

bool apply(const ByteTest &option, PacketTexts &texts, State &state)
{
    const auto found = extract(option.extraction, texts, state);
    return found && compare(option.comparison, found->value,
                            uint32_t(state.value_of(option.value))) != option.is_negated;
}

bool apply(const ByteJump &option, PacketTexts &texts, State &state)
{
    const auto found = extract(option.extraction, texts, state);
    if (!found)
        return false;
    const uint32_t jump = aligned(found->value * option.multiplier, option.aligns ? 4 : 1);
    int64_t place = jump;
    switch (option.origin) {
    case ByteJump::Origin::kHere: place += int64_t(found->end); break;
    case ByteJump::Origin::kBeginning: break;
    case ByteJump::Origin::kEnd: place += int64_t(found->buffer.size()); break;
    }
    place += state.value_of(option.post_offset);
    if (place < 0 || place > int64_t(found->buffer.size()))
        return false;
    state.set_cursor(found->name, size_t(place));
    return true;
}

bool apply(const ByteExtract &option, PacketTexts &texts, State &state)
{
    const auto found = extract(option.extraction, texts, state);
    if (!found)
        return false;
    state.variables[size_t(option.variable)] =
        aligned(found->value * option.multiplier, option.alignment);
    state.set_cursor(found->name, found->end);
    return true;
}

// The cursor stays.
bool apply(const ByteMath &option, PacketTexts &texts, State &state)
{
    const auto found = extract(option.extraction, texts, state);
    const auto result =
        found ? calculated(option.operation, found->value, uint32_t(state.value_of(option.operand)))
              : std::nullopt;
    if (result)
        state.variables[size_t(option.variable)] = *result;
    return result.has_value();
}

bool apply(const DataAt &option, PacketTexts &texts, State &state)
{
    const Buffer name = option.is_raw ? Buffer::kPayload : state.buffer_of(option.is_relative);
    const auto buffer = texts.text(name);
    if (!buffer)
        return false;
    const bool is_from_cursor = option.is_relative && state.has_cursor;
    if (is_from_cursor && (state.cursor_buffer != name || state.cursor > buffer->size()))
        return false;
    const int64_t place =
        (is_from_cursor ? int64_t(state.cursor) : 0) + state.value_of(option.offset);
    if (place < 0)
        return false;
    return (place < int64_t(buffer->size())) != option.is_negated;
}
} // namespace mapi::match::rule
