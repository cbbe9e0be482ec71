// SPDX-License-Identifier: MIT
// Folded text: bytes -> the same bytes with ASCII capitals converted to lower case, so that a plain
// search ignores case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

namespace mapi::match
{
constexpr uint8_t folded(uint8_t byte)
{
    return uint8_t(byte | (uint8_t(byte - 'A') < 26 ? 0x20 : 0));
}

inline void fold(std::string &text)
{
    for (char &letter : text)
        letter = char(folded(uint8_t(letter)));
}

class FoldedText
{
public:
    // Valid until the next call.  Null if out of memory.
    const uint8_t *copy(const uint8_t *data, size_t bytes) noexcept
    {
        if (bytes > room_ && !grow(bytes))
            return nullptr;
        uint8_t *const text = text_.get();
        size_t at = 0;
        for (; at + kBlockBytes <= bytes; at += kBlockBytes)
            fold_block(data + at, text + at);
        for (; at < bytes; ++at)
            text[at] = folded(data[at]);
        return text;
    }

private:
    static constexpr size_t kBlockBytes = 32;

    // The compiler vectorizes blocks of this size.
    static void fold_block(const uint8_t *__restrict data, uint8_t *__restrict text) noexcept
    {
        for (size_t i = 0; i < kBlockBytes; ++i)
            text[i] = folded(data[i]);
    }

    bool grow(size_t bytes) noexcept
    {
        const size_t room = bytes * 2;
        uint8_t *const text = new (std::nothrow) uint8_t[room];
        if (!text)
            return false;
        text_.reset(text);
        room_ = room;
        return true;
    }

    std::unique_ptr<uint8_t[]> text_;
    size_t room_ = 0;
};
} // namespace mapi::match
