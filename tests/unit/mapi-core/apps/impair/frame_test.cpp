// SPDX-License-Identifier: MIT
// frame: what a packet socket delivers -> the bytes that a wire would carry.
#include "support/catch.hpp"

#include <numeric>
#include <string_view>
#include <vector>

#include "frame.hpp"

using namespace impair;

TEST_CASE("a tag is put behind the addresses", "[impair][frame]")
{
    std::vector<uint8_t> room(kTagBytes + 20);
    std::iota(room.begin() + kTagBytes, room.end(), uint8_t(0));
    const auto frame = put_tag(std::span(room).subspan(kTagBytes), {0x8100, 0x2064});
    const std::vector<uint8_t> expected = {0,    1,    2,    3,    4,  5,  6,  7,  8,  9,  10, 11,
                                           0x81, 0x00, 0x20, 0x64, 12, 13, 14, 15, 16, 17, 18, 19};
    CHECK(std::vector<uint8_t>(frame.begin(), frame.end()) == expected);
}

TEST_CASE("a frame without addresses gets no tag", "[impair][frame]")
{
    std::vector<uint8_t> room(kTagBytes + 11, 7);
    CHECK(put_tag(std::span(room).subspan(kTagBytes), {0x8100, 1}).size() == 11);
}

TEST_CASE("a completed checksum makes the sum 0xffff", "[impair][frame]")
{
    for (const size_t bytes : {20, 21}) {
        std::vector<uint8_t> frame(bytes);
        std::iota(frame.begin(), frame.end(), uint8_t(100));
        REQUIRE(complete_checksum(frame, 4, 6));
        uint32_t sum = 0x6e6f; // of the pseudo header, which was in the place of the checksum
        for (size_t at = 4; at < bytes; at += 2)
            sum += uint32_t(frame[at] << 8) + (at + 1 < bytes ? frame[at + 1] : 0);
        while (sum >> 16)
            sum = (sum & 0xffff) + (sum >> 16);
        CHECK(sum == 0xffff);
    }
}

TEST_CASE("a checksum outside of the frame is refused", "[impair][frame]")
{
    std::vector<uint8_t> frame(20, 1);
    const std::vector<uint8_t> before = frame;
    CHECK_FALSE(complete_checksum(frame, 18, 1));
    CHECK_FALSE(complete_checksum(frame, 65535, 65535));
    CHECK_FALSE(complete_checksum(frame, SIZE_MAX, 1));
    CHECK(frame == before);
    CHECK(complete_checksum(frame, 18, 0));
}

TEST_CASE("the digest is FNV-1a", "[impair][frame]")
{
    const auto digest = [](std::string_view text) {
        return digest_of({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
    };
    CHECK(digest("") == 0xcbf29ce484222325U);
    CHECK(digest("foobar") == 0x85944171f73967e8U);
}
