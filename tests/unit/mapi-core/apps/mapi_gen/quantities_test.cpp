// SPDX-License-Identifier: MIT
// quantities: words of the command line -> numbers, addresses, lists of CPUs.
#include "support/catch.hpp"

#include "quantities.hpp"

using namespace mapi_gen;

TEST_CASE("a rate has units of 1000", "[mapi_gen][quantities]")
{
    CHECK(read_rate("250") == 250.0);
    CHECK(read_rate("2k") == 2000.0);
    CHECK(*read_rate("14.88M") == Approx(14.88e6));
    CHECK(read_rate("1G") == 1e9);
    for (const char *const wrong :
         {"", "0", "-1", "k", "1K", "1kk", "1 k", "0x10", "inf", "1.5.1", "1M5", "9999999G"})
        CHECK_FALSE(read_rate(wrong));
}

TEST_CASE("addresses are read whole or not at all", "[mapi_gen][quantities]")
{
    CHECK(read_mac("02:4e:53:00:00:fF") == Mac{0x02, 0x4e, 0x53, 0, 0, 0xff});
    for (const char *const wrong : {"", "02:4e:53:00:00", "02-4e-53-00-00-01", "2:4e:53:00:00:001",
                                    "02:4e:53:00:00:01:", "0g:4e:53:00:00:01"})
        CHECK_FALSE(read_mac(wrong));
    CHECK(read_ipv4("198.18.0.1") == 0xc6120001u);
    CHECK_FALSE(read_ipv4("198.18.1"));
    CHECK_FALSE(read_ipv4("::1"));
}

TEST_CASE("a list of CPUs has numbers and ranges, each once", "[mapi_gen][quantities]")
{
    CHECK(read_cpus("0") == std::vector<unsigned>{0});
    CHECK(read_cpus("4,0-2") == std::vector<unsigned>{4, 0, 1, 2});
    for (const char *const wrong : {"", ",", "1,", "2-1", "1,0-1", "-1", "1-", "a", "99999999999"})
        CHECK_FALSE(read_cpus(wrong));
}
