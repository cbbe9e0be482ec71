// SPDX-License-Identifier: MIT
// Checksums against the vectors of RFC 3720 and against a slow third implementation.
#include "support/catch.hpp"

#include <random>
#include <string>

#include "support/requires.hpp"
#include "support/trace_builder.hpp"

extern "C" {
#include "crc32c.h"
std::uint32_t crc32c_by_table(const void *data, std::size_t bytes);
std::uint32_t crc32c_by_instruction(const void *data, std::size_t bytes);
int crc32c_has_instruction(void);
}

namespace
{
using Function = std::uint32_t (*)(const void *, std::size_t);

void check_vectors(Function crc)
{
    std::string ascending;
    for (char c = 0; c < 32; ++c)
        ascending += c;
    CHECK(crc("", 0) == 0);
    CHECK(crc("123456789", 9) == 0xe3069283);
    CHECK(crc(std::string(32, '\0').data(), 32) == 0x8a9136aa);
    CHECK(crc(std::string(32, '\xff').data(), 32) == 0x62a8ab43);
    CHECK(crc(ascending.data(), 32) == 0x46dd794e);
}
} // namespace

TEST_CASE("the checksum by table gives the vectors of RFC 3720", "[libnsprobe][crc32c]")
{
    check_vectors(crc32c_by_table);
}

TEST_CASE("the checksum by instruction gives the vectors of RFC 3720", "[libnsprobe][crc32c]")
{
    if (!crc32c_has_instruction())
        return test_support::skip("this CPU has no CRC32 instruction");
    check_vectors(crc32c_by_instruction);
}

TEST_CASE("all ways to the checksum agree at every length and alignment", "[libnsprobe][crc32c]")
{
    std::mt19937 random(7);
    std::string bytes(400, '\0');
    for (char &c : bytes)
        c = static_cast<char>(random());
    for (std::size_t from = 0; from < 9; ++from)
        for (std::size_t length = 0; length < 300; ++length) {
            const auto expected = test_support::slow_crc32c(bytes.data() + from, length);
            REQUIRE(nsp_crc32c(bytes.data() + from, length) == expected);
            REQUIRE(crc32c_by_table(bytes.data() + from, length) == expected);
        }
}
