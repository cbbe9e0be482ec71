// SPDX-License-Identifier: MIT
#include "decode/crc32c.hpp"

#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/trace_builder.hpp"

TEST_CASE("checksums are those of RFC 3720", "[nsdump][crc32c]")
{
    std::string rising, falling;
    for (int i = 0; i < 32; ++i) {
        rising += static_cast<char>(i);
        falling += static_cast<char>(31 - i);
    }
    for (const auto sum : {nsdump::crc32c, nsdump::crc32c_by_table}) {
        CHECK(sum(std::string(32, '\0').data(), 32) == 0x8a9136aau);
        CHECK(sum(std::string(32, '\xff').data(), 32) == 0x62a8ab43u);
        CHECK(sum(rising.data(), 32) == 0x46dd794eu);
        CHECK(sum(falling.data(), 32) == 0x113fdb5cu);
        CHECK(sum("123456789", 9) == 0xe3069283u);
        CHECK(sum("", 0) == 0);
    }
}

TEST_CASE("instruction, table and test writer agree at every length and alignment", "[nsdump][crc32c]")
{
    std::mt19937 random(1);
    std::vector<unsigned char> bytes(20000);
    for (unsigned char &byte : bytes)
        byte = static_cast<unsigned char>(random());
    for (std::size_t length = 0; length < 10000; length = length < 40 ? length + 1 : length * 5 / 4) {
        const unsigned char *at = bytes.data() + length % 9;
        REQUIRE(nsdump::crc32c(at, length) == nsdump::crc32c_by_table(at, length));
        REQUIRE(nsdump::crc32c(at, length) == test_support::slow_crc32c(at, length));
    }
}
