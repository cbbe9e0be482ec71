// SPDX-License-Identifier: MIT
// STARTSTOP: limits, and packets whose times are not in order.
#include "functions/catalog.hpp"

#include <limits>
#include <vector>

#include <mapi/results.h>

#include "support/catch.hpp"
#include "support/function_memory.hpp"

namespace
{
constexpr uint64_t kSecond = 1000000000;

// The mask of packets at these times that pass, processed one by one or all in one batch.
uint64_t passed(const char *start, const char *stop, const std::vector<uint64_t> &times_ns,
                bool is_one_by_one)
{
    mapi_argument given[2] = {};
    given[0].text = start;
    given[1].text = stop;
    given[0].kind = given[1].kind = MAPI_ARGUMENT_STRING;
    mapi_startstop_t result{};
    mapi_function_setup setup{};
    setup.arguments = given;
    setup.argument_count = 2;
    setup.result = &result;
    give_memory(setup);
    void *state = nullptr;
    REQUIRE(mapi_fn_startstop.create(&setup, &state) == 0);
    std::vector<mapi_packet> packets(times_ns.size());
    mapi_batch batch{};
    batch.packets = packets.data();
    batch.count = uint32_t(packets.size());
    batch.all = (uint64_t(1) << packets.size()) - 1;
    for (size_t i = 0; i < packets.size(); ++i)
        packets[i].timestamp_ns = times_ns[i];
    uint64_t mask = 0;
    if (is_one_by_one) {
        for (size_t i = 0; i < packets.size(); ++i)
            mask |= mapi_fn_startstop.process(state, &batch, uint64_t(1) << i);
    } else {
        mask = mapi_fn_startstop.process(state, &batch, batch.all);
    }
    mapi_fn_startstop.destroy(state);
    return mask;
}
} // namespace

TEST_CASE("without limits all packets pass, in any order", "[mapi-core][functions]")
{
    const bool is_one_by_one = GENERATE(false, true);
    const std::vector<uint64_t> times = {100 * kSecond, 50 * kSecond, 150 * kSecond, 0,
                                         std::numeric_limits<uint64_t>::max()};
    CHECK(passed("0", "0", times, is_one_by_one) == 0b11111);
    CHECK(passed("", "", times, is_one_by_one) == 0b11111);
}

TEST_CASE("a limit at one end does not limit the other", "[mapi-core][functions]")
{
    const bool is_one_by_one = GENERATE(false, true);
    const std::vector<uint64_t> times = {100 * kSecond, 50 * kSecond, 150 * kSecond,
                                         105 * kSecond - 1, 105 * kSecond};
    CHECK(passed("0", "+5s", times, is_one_by_one) == 0b01011); // until 5 s after the first packet
    CHECK(passed("+5s", "0", times, is_one_by_one) == 0b10100);
    CHECK(passed("0", "1970-01-01 12:00:00", times, is_one_by_one) != 0);
    CHECK(passed("1970-01-02 12:00:00", "0", times, is_one_by_one) == 0);
    CHECK(passed("+5s", "+45s", times, is_one_by_one) == 0b10000);
    CHECK(passed("+5s", "+45s", {100 * kSecond, 150 * kSecond, 149 * kSecond, 104 * kSecond},
                 is_one_by_one) == 0b0100);
}
