// SPDX-License-Identifier: MIT
// Checksums, compared with the vectors of RFC 3720 and a slow implementation in this file.
#include "common/crc32c/crc32c.h"

#include <random>
#include <string>

#include "support/catch.hpp"
#include "support/requires.hpp"
#include "support/trace_builder.hpp"

TEST_CASE("checksums match RFC 3720", "[crc32c]")
{
    std::string rising, falling;
    for (int i = 0; i < 32; ++i) {
        rising += char(i);
        falling += char(31 - i);
    }
    for (const auto sum : {nslice_crc32c, nslice_crc32c_by_instruction, nslice_crc32c_by_table}) {
        CHECK(sum(std::string(32, '\0').data(), 32) == 0x8a9136aau);
        CHECK(sum(std::string(32, '\xff').data(), 32) == 0x62a8ab43u);
        CHECK(sum(rising.data(), 32) == 0x46dd794eu);
        CHECK(sum(falling.data(), 32) == 0x113fdb5cu);
        CHECK(sum("123456789", 9) == 0xe3069283u);
        CHECK(sum("", 0) == 0);
    }
}

TEST_CASE("all ways and a slow implementation agree at every length and alignment", "[crc32c]")
{
    if (!nslice_crc32c_can_fold())
        test_support::skip("folding: the processor has no VPCLMULQDQ");
    std::mt19937 random(1);
    std::string bytes(20000, '\0');
    for (char &byte : bytes)
        byte = char(random());
    for (size_t from = 0; from < 9; ++from)
        for (size_t length = 0; length < 19000;
             length = length < 300 ? length + 1 : length * 6 / 5) {
            const auto expected = test_support::slow_crc32c(bytes.data() + from, length);
            REQUIRE(nslice_crc32c(bytes.data() + from, length) == expected);
            REQUIRE(nslice_crc32c_by_instruction(bytes.data() + from, length) == expected);
            REQUIRE(nslice_crc32c_by_table(bytes.data() + from, length) == expected);
        }
}
