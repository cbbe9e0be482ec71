// SPDX-License-Identifier: MIT
#include "captures/packet_time.hpp"

#include "support/catch.hpp"

using captures_source::ns_of_ntp;

namespace
{
constexpr uint64_t kNtpOf1970 = 2208988800;
}

TEST_CASE("a time of MAPI becomes nanoseconds since 1970, also after 2036", "[captures]")
{
    CHECK(ns_of_ntp(kNtpOf1970 << 32) == 0);
    CHECK(ns_of_ntp(kNtpOf1970 << 32 | uint64_t{1} << 31) == 500000000);
    // nanoseconds are exact, though the fraction is rounded
    for (const uint64_t ns : {1u, 7u, 999999999u}) {
        const uint64_t fraction = (ns << 32) / 1000000000;
        CHECK(ns_of_ntp((kNtpOf1970 + 5) << 32 | fraction) == 5000000000 + ns);
    }
    CHECK(ns_of_ntp(uint64_t{10} << 32) == ((uint64_t{1} << 32) - kNtpOf1970 + 10) * 1000000000);
}
