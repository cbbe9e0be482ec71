// SPDX-License-Identifier: MIT
// The parts of COOKING: fragments of IP.
#include "support/catch.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "functions/cooking/fragments.hpp"
#include "mapi-core/functions/cooking_frame.hpp"

using namespace mapi::cooking;

namespace
{
// A fragment of an IPv4 packet that carries `datagram`.
std::vector<uint8_t> fragment(const std::string &datagram, uint32_t offset, uint32_t bytes,
                              uint8_t identification = 9)
{
    std::vector<uint8_t> made = frame();
    made.resize(34);
    made.insert(made.end(), datagram.begin() + offset, datagram.begin() + offset + bytes);
    made[17] = uint8_t(20 + bytes);
    made[19] = identification;
    made[20] = offset + bytes < datagram.size() ? 0x20 : 0;
    made[21] = uint8_t(offset / 8);
    return made;
}

std::optional<Datagram> take(Fragments &fragments, const std::vector<uint8_t> &bytes,
                             uint64_t time = 0)
{
    const mapi_packet packet = {
        bytes.data(), uint32_t(bytes.size()), uint32_t(bytes.size()), time, 1, 0, 0};
    const auto found = mapi::headers::parse(packet);
    const auto read = read_fragment(packet, *found.innermost());
    REQUIRE(read);
    return fragments.take(packet, found, *read);
}
} // namespace

TEST_CASE("fragments in any order become their datagram", "[mapi-core][functions]")
{
    std::string datagram(50, 0);
    std::iota(datagram.begin(), datagram.end(), 'A');
    std::vector<std::pair<uint32_t, uint32_t>> parts = {
        {0, 16}, {16, 8}, {24, 24}, {40, 10}}; // two overlap
    mapi_cooking_t counts{};
    do {
        Fragments fragments(counts);
        std::optional<Datagram> whole;
        for (const auto &[offset, bytes] : parts) {
            CHECK_FALSE(whole);
            whole = take(fragments, fragment(datagram, offset, bytes));
        }
        REQUIRE(whole);
        const auto bytes = whole->bytes.ready();
        CHECK(std::string(bytes.begin(), bytes.end()) == datagram);
        CHECK(whole->source()[3] == 1);
        CHECK(whole->destination()[3] == 2);
    } while (std::next_permutation(parts.begin(), parts.end()));
    CHECK(counts.lost_fragments == 0);
}

TEST_CASE("fragments that wait too long, exceed the limit or are malformed are dropped and counted",
          "[mapi-core][functions]")
{
    const std::string datagram(100, 'x');
    mapi_cooking_t counts{};
    Fragments fragments(counts);
    SECTION("time")
    {
        take(fragments, fragment(datagram, 0, 48), 5);
        fragments.expire(5 + Fragments::kTimeoutNs);
        CHECK(counts.lost_fragments == 0);
        fragments.expire(6 + Fragments::kTimeoutNs);
        CHECK(counts.lost_fragments == 1);
    }
    SECTION("room")
    {
        const size_t most =
            Fragments::kCostMost / (Fragments::kDatagramCost + HalfStream::kChunkCost);
        for (size_t i = 0; i < 2 * most; ++i) {
            auto bytes = fragment(datagram, 8, 48);
            bytes[18] = uint8_t(i >> 8);
            bytes[19] = uint8_t(i);
            take(fragments, bytes);
        }
        CHECK(counts.lost_fragments > most);
        CHECK(counts.fragments - counts.lost_fragments <= most);
    }
    SECTION("a length that is not a multiple of 8")
    {
        take(fragments, fragment(datagram, 0, 47));
        CHECK(counts.lost_fragments == 1);
    }
    SECTION("the last fragment ends before data that is there")
    {
        take(fragments, fragment(datagram, 0, 48));
        take(fragments, fragment(datagram.substr(0, 32), 24, 8));
        CHECK(counts.lost_fragments == 2);
    }
    SECTION("the end of the source")
    {
        take(fragments, fragment(datagram, 0, 48));
        fragments.end_all();
        CHECK(counts.lost_fragments == 1);
    }
}
