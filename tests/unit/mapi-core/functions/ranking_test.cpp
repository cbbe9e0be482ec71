// SPDX-License-Identifier: MIT
// Ranking: the highest of all values, as sorting all of them would give.
#include "functions/flows/ranking.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "support/catch.hpp"
#include "support/heap_bytes.hpp"

using mapi::functions::FieldValue;
using mapi::functions::Ranking;

namespace
{
FieldValue value(uint32_t number)
{
    return {number};
}

struct Plain {
    uint64_t packets = 0, bytes = 0, last = 0;
};

// The result of sorting: larger amounts first, among equal ones the one that reached it first.
std::vector<uint32_t> sorted(const std::map<uint32_t, Plain> &all, bool by_bytes, size_t most)
{
    std::vector<std::pair<uint32_t, Plain>> rows(all.begin(), all.end());
    std::sort(rows.begin(), rows.end(), [&](const auto &a, const auto &b) {
        const uint64_t left = by_bytes ? a.second.bytes : a.second.packets,
                       right = by_bytes ? b.second.bytes : b.second.packets;
        return left != right ? left > right : a.second.last < b.second.last;
    });
    std::vector<uint32_t> numbers;
    for (size_t i = 0; i < std::min(most, rows.size()); ++i)
        numbers.push_back(rows[i].first);
    return numbers;
}

std::vector<uint32_t> ranked(const Ranking &ranking)
{
    std::vector<uint32_t> numbers;
    for (const auto *row : ranking.top())
        numbers.push_back(row->first.value);
    return numbers;
}
} // namespace

TEST_CASE("the ranks are those of sorting all counts, after every packet", "[mapi-core][functions]")
{
    std::mt19937 random(7);
    for (const bool by_bytes : {false, true}) {
        for (const size_t ranks : {1u, 7u, 100u}) {
            Ranking ranking(ranks, by_bytes);
            std::map<uint32_t, Plain> all;
            std::vector<uint32_t> published(ranks);
            for (uint64_t i = 1; i <= 3000; ++i) {
                const uint32_t number = uint32_t(std::min(random() % 60, random() % 60)),
                               bytes = uint32_t(64 + random() % 4 * 64);
                REQUIRE(ranking.add(value(number), bytes));
                Plain &plain = all[number];
                ++plain.packets;
                plain.bytes += bytes;
                plain.last = i;
                const auto wanted = sorted(all, by_bytes, ranks);
                REQUIRE(ranked(ranking) == wanted);
                // A reader that copies only what is reported as changed also has all of it.
                if (i % 3 == 0) {
                    const auto [from, until] = ranking.take_changes();
                    for (size_t k = from; k < until; ++k)
                        published[k] = ranking.top()[k]->first.value;
                    REQUIRE(std::equal(wanted.begin(), wanted.end(), published.begin()));
                }
            }
            for (const auto *row : ranking.top()) {
                CHECK(row->second.packets == all[row->first.value].packets);
                CHECK(row->second.bytes == all[row->first.value].bytes);
            }
        }
    }
}

TEST_CASE("a value that does not fit is refused, and those present still count",
          "[mapi-core][functions]")
{
    Ranking ranking(2, false, 3);
    for (const uint32_t number : {1u, 2u, 3u})
        CHECK(ranking.add(value(number), 100));
    CHECK_FALSE(ranking.add(value(4), 100));
    CHECK(ranking.add(value(3), 100));
    CHECK(ranked(ranking) == std::vector<uint32_t>{3, 1});
    ranking.clear();
    CHECK(ranked(ranking).empty());
    CHECK(ranking.add(value(4), 100));
    CHECK(ranked(ranking) == std::vector<uint32_t>{4});
}

TEST_CASE("an IPv4 address, an IPv6 address and a number are three different values",
          "[mapi-core][functions]")
{
    Ranking ranking(10, false);
    FieldValue ipv4{1}, ipv6{};
    ipv4.family = 2;
    ipv6.family = 10;
    for (const FieldValue &one : {value(1), ipv4, ipv6, value(0)})
        ranking.add(one, 1);
    CHECK(ranking.top().size() == 4);
}

#ifdef HEAP_BYTES_ARE_REPORTED
TEST_CASE("a full ranking uses no more memory than declared", "[mapi-core][functions]")
{
    constexpr size_t kValues = 100000;
    const uint64_t before = heap_bytes();
    Ranking ranking(10, false, kValues);
    for (uint32_t i = 0; i <= kValues; ++i)
        ranking.add(value(i), 1);
    check_heap_growth(before, Ranking::memory_bytes(kValues));
}
#endif
