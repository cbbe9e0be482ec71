// SPDX-License-Identifier: MIT
// Attempts that fail become rare, and one after a long time comes at once.
#include <vector>

#include "src/counters/retries.hpp"
#include "support/catch.hpp"

namespace
{
// What is tried, if it is asked for every 10 ms.
std::vector<uint64_t> tried_ms(nsbpf::Retries &retries, uint64_t first_ms, uint64_t last_ms)
{
    std::vector<uint64_t> tried;
    for (uint64_t now_ms = first_ms; now_ms <= last_ms; now_ms += 10)
        if (retries.is_due(now_ms))
            tried.push_back(now_ms - first_ms);
    return tried;
}
} // namespace

TEST_CASE("attempts that follow each other become rare, up to one for each second",
          "[nsbpf][retries]")
{
    nsbpf::Retries retries;
    CHECK(tried_ms(retries, 50000, 53500) ==
          std::vector<uint64_t>{0, 10, 30, 70, 150, 310, 630, 1270, 2270, 3270});
}

TEST_CASE("after a second without an attempt the next one comes at once, and soon again",
          "[nsbpf][retries]")
{
    nsbpf::Retries retries;
    tried_ms(retries, 50000, 53500);
    CHECK(tried_ms(retries, 60000, 60100) == std::vector<uint64_t>{0, 10, 30, 70});
}
