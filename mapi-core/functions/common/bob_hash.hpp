// SPDX-License-Identifier: MIT
// BOB hash: bytes -> 32 bits, the hash that RFC 5475 (6.2.4.1, Appendix A.2) requires for the
// selection of packets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mapi::functions
{
namespace bob_detail
{
constexpr size_t kBlockBytes = 12;

struct State {
    uint32_t first = 0x9e3779b9; // the golden ratio
    uint32_t second = 0x9e3779b9;
    uint32_t third = 0;

    constexpr void mix()
    {
        round(13, 8, 13);
        round(12, 16, 5);
        round(3, 10, 15);
    }

private:
    constexpr void round(unsigned right, unsigned left, unsigned last)
    {
        first = (first - second - third) ^ (third >> right);
        second = (second - third - first) ^ (first << left);
        third = (third - first - second) ^ (second >> last);
    }
};

constexpr uint32_t word(const uint8_t *at)
{
    return uint32_t(at[0]) | uint32_t(at[1]) << 8 | uint32_t(at[2]) << 16 | uint32_t(at[3]) << 24;
}
} // namespace bob_detail

// The same value on machines of either byte order.
constexpr uint32_t bob_hash(std::span<const uint8_t> bytes, uint32_t start)
{
    using bob_detail::kBlockBytes;
    bob_detail::State state;
    state.third = start;
    const auto length = uint32_t(bytes.size());
    for (; bytes.size() >= kBlockBytes; bytes = bytes.subspan(kBlockBytes)) {
        state.first += bob_detail::word(bytes.data());
        state.second += bob_detail::word(&bytes[4]);
        state.third += bob_detail::word(&bytes[8]);
        state.mix();
    }
    // The low byte of the third word is the length: its bytes begin one place later.
    std::array<uint8_t, kBlockBytes + 1> rest{};
    for (size_t i = 0; i < bytes.size(); ++i)
        rest[i < 8 ? i : i + 1] = bytes[i];
    state.first += bob_detail::word(rest.data());
    state.second += bob_detail::word(&rest[4]);
    state.third += bob_detail::word(&rest[8]) + length;
    state.mix();
    return state.third;
}
} // namespace mapi::functions
