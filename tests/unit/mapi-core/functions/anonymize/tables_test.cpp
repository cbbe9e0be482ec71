// SPDX-License-Identifier: MIT
// What is remembered of values: numbers, draws and prefixes, and what happens when the tables are
// full.
#include "functions/anonymize/transform/tables.hpp"

#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "packets.hpp"
#include "support/catch.hpp"
#include "support/heap_bytes.hpp"

using namespace mapi::anonymize;
using anonymize_test::Bytes;

namespace
{
Bytes address(uint32_t value)
{
    return {uint8_t(value >> 24), uint8_t(value >> 16), uint8_t(value >> 8), uint8_t(value)};
}

uint32_t number(const Bytes &bytes)
{
    return uint32_t(bytes[0]) << 24 | uint32_t(bytes[1]) << 16 | uint32_t(bytes[2]) << 8 | bytes[3];
}

uint32_t made_of(Tables &tables, uint32_t value)
{
    Bytes bytes = address(value);
    REQUIRE(tables.anonymize_prefix(bytes));
    return number(bytes);
}

int common_bits(uint32_t left, uint32_t right)
{
    return std::countl_zero(left ^ right);
}
} // namespace

TEST_CASE("values are numbered from 1 in order of arrival, each kind separately",
          "[mapi-core][anonymize]")
{
    Tables tables(1);
    CHECK(tables.number_of(Counter::kAddresses, address(7)) == 1);
    CHECK(tables.number_of(Counter::kAddresses, address(8)) == 2);
    CHECK(tables.number_of(Counter::kAddresses, address(7)) == 1);
    CHECK(tables.number_of(Counter::kPorts, Bytes{0, 80}) == 1);
    CHECK(tables.number_of(Counter::kAddresses, Bytes(16, 0)) == 3);
    CHECK(tables.not_kept() == 0);
}

TEST_CASE("values beyond a full table become 0 and are counted, earlier ones are unchanged",
          "[mapi-core][anonymize]")
{
    Tables tables(1, 3);
    for (uint32_t i = 1; i <= 3; ++i)
        CHECK(tables.number_of(Counter::kWords, address(100 + i)) == i);
    CHECK(tables.number_of(Counter::kWords, address(99)) == 0);
    CHECK(tables.number_of(Counter::kWords, address(98)) == 0);
    CHECK(tables.number_of(Counter::kWords, address(102)) == 2);
    CHECK(tables.not_kept() == 2);
}

TEST_CASE("a uniform draw is within its bounds and is the same for the same value",
          "[mapi-core][anonymize]")
{
    Tables tables(1);
    const Distribution dice{DistributionType::kUniform, 1, 6, 4};
    std::map<uint32_t, int> seen;
    for (uint32_t i = 0; i < 6000; ++i) {
        const uint32_t drawn = tables.draw_of(dice, address(i));
        ++seen[drawn];
        CHECK(tables.draw_of(dice, address(i)) == drawn);
    }
    REQUIRE(seen.size() == 6);
    CHECK(seen.begin()->first == 1);
    for (const auto &[face, times] : seen)
        CHECK(std::abs(times - 1000) < 150);
}

TEST_CASE("a Gaussian draw has its mean and deviation, and stays in the range of the field",
          "[mapi-core][anonymize]")
{
    Tables tables(1);
    const Distribution wide{DistributionType::kGaussian, 30000, 1000, 2};
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < 10000; ++i) {
        const double drawn = tables.draw_of(wide, address(i));
        sum += drawn;
        squares += (drawn - 30000) * (drawn - 30000);
    }
    CHECK(std::abs(sum / 10000 - 30000) < 50);
    CHECK(std::abs(std::sqrt(squares / 10000) - 1000) < 50);
    const Distribution narrow{DistributionType::kGaussian, 250, 100, 1};
    for (uint32_t i = 0; i < 1000; ++i)
        CHECK(tables.draw_of(narrow, address(i)) <= 255);
}

TEST_CASE("draws beyond a full table are repeated each time and counted", "[mapi-core][anonymize]")
{
    Tables tables(1, 2); // one of them is used by the distribution
    const Distribution wide{DistributionType::kUniform, 0, UINT32_MAX, 4};
    const uint32_t kept = tables.draw_of(wide, address(1));
    std::set<uint32_t> draws;
    for (int i = 0; i < 20; ++i)
        draws.insert(tables.draw_of(wide, address(2)));
    CHECK(draws.size() > 10);
    CHECK(tables.draw_of(wide, address(1)) == kept);
    CHECK(tables.not_kept() == 20);
}

TEST_CASE("all kinds of values share the entries, and distributions use some, too",
          "[mapi-core][anonymize]")
{
    Tables tables(1, 4);
    CHECK(tables.number_of(Counter::kAddresses, address(1)) == 1);
    CHECK(tables.number_of(Counter::kPorts, Bytes{0, 80}) == 1);
    const Distribution dice{DistributionType::kUniform, 1, 6, 4},
        coin{DistributionType::kUniform, 1, 2, 4};
    tables.draw_of(dice, address(1));
    CHECK(tables.not_kept() == 0);
    tables.draw_of(coin, address(1));
    CHECK(tables.number_of(Counter::kPorts, Bytes{0, 81}) == 0);
    made_of(tables, 0x0a000001);
    CHECK(tables.not_kept() == 3);
}

TEST_CASE("addresses in a table keep the prefixes that they share, one to one",
          "[mapi-core][anonymize]")
{
    Tables tables(1);
    std::mt19937 random(3);
    std::map<uint32_t, uint32_t> made;
    for (int i = 0; i < 600; ++i) {
        const uint32_t value = i % 3 ? uint32_t(random()) : 0x0a000000u | uint32_t(random() % 512);
        made[value] = made_of(tables, value);
    }
    for (const auto &[left, left_made] : made) {
        CHECK(made_of(tables, left) == left_made);
        for (const auto &[right, right_made] : made)
            if (left < right && common_bits(left, right) != common_bits(left_made, right_made))
                FAIL(left << " and " << right);
    }
    CHECK(tables.not_kept() == 0);
}

TEST_CASE("an address beyond a full table keeps the prefix that it shares with those in it",
          "[mapi-core][anonymize]")
{
    Tables tables(1, 2);
    const uint32_t first = made_of(tables, 0x0a000001);
    made_of(tables, 0xc0000001);
    const uint32_t third = made_of(tables, 0x0a0000ff);
    CHECK(common_bits(first, third) == common_bits(0x0a000001, 0x0a0000ff));
    CHECK(made_of(tables, 0x0a0000ff) == third);
    CHECK(made_of(tables, 0x0a000001) == first);
    CHECK(tables.not_kept() == 2);
}

TEST_CASE("IPv6 addresses also have a table of prefixes", "[mapi-core][anonymize]")
{
    Tables tables(1);
    Bytes one = anonymize_test::hex("20010db8000000000000000000000001");
    Bytes two = anonymize_test::hex("20010db80000000000000000000000fe");
    REQUIRE(tables.anonymize_prefix(one));
    REQUIRE(tables.anonymize_prefix(two));
    CHECK(one != anonymize_test::hex("20010db8000000000000000000000001"));
    CHECK(Bytes(one.begin(), one.end() - 1) == Bytes(two.begin(), two.end() - 1));
    CHECK((one.back() ^ two.back()) >> 7 == 1);
}

TEST_CASE("the same seed gives the same secrets and numbers, another seed gives others",
          "[mapi-core][anonymize]")
{
    Tables one(5), same(5), other(6), none;
    CHECK(made_of(one, 0x0a000001) == made_of(same, 0x0a000001));
    CHECK(std::ranges::equal(one.address_key(), same.address_key()));
    CHECK_FALSE(std::ranges::equal(one.address_key(), other.address_key()));
    CHECK_FALSE(std::ranges::equal(one.address_key(), one.cipher_key()));
    CHECK_FALSE(std::ranges::equal(none.address_key(), other.address_key()));
}

TEST_CASE("random numbers below a bound include all values below it and none above",
          "[mapi-core][anonymize]")
{
    Random random(9);
    std::map<uint64_t, int> seen;
    for (int i = 0; i < 7000; ++i)
        ++seen[random.below(7)];
    CHECK(seen.size() == 7);
    for (const auto &[value, times] : seen)
        CHECK(std::abs(times - 1000) < 150);
    for (int i = 0; i < 1000; ++i) {
        const double fraction = random.fraction();
        CHECK((fraction >= 0 && fraction < 1));
    }
}

#ifdef HEAP_BYTES_ARE_REPORTED
TEST_CASE("full tables use no more memory than declared, whatever is in them",
          "[mapi-core][anonymize]")
{
    constexpr size_t kValues = 50000;
    for (const bool are_prefixes : {false, true}) {
        const uint64_t before = heap_bytes();
        Tables tables(1, kValues);
        for (uint32_t i = 0; i <= kValues; ++i) {
            if (are_prefixes)
                made_of(tables, i * 77777);
            else
                tables.number_of(Counter::kAddresses, address(i));
        }
        CHECK(tables.not_kept() == 1);
        check_heap_growth(before, Tables::memory_bytes(kValues));
    }
}
#endif
