// SPDX-License-Identifier: MIT
// run: statistics of a device -> packets and drops by cause.
#include "support/catch.hpp"

#include <string>

#include "mapi_cost/run/run.hpp"

using namespace mapi_cost;

TEST_CASE("each drop has the cause that the device reports", "[mapi_cost][run]")
{
    mapi_stat_t stats = {};
    stats.ps_recv = 100;
    stats.bytes_recv = 6400;
    stats.drop_kernel = 1;
    stats.ps_ifdrop = 2;
    stats.drop_buffer_full = 4;
    stats.drop_link_type = 8;
    stats.drop_not_written = 16;
    const Arrivals arrivals = arrivals_of(stats, 2.5);

    CHECK(arrivals.packets == 100);
    CHECK(arrivals.wire_bytes == 6400);
    CHECK(arrivals.seconds == 2.5);
    CHECK(arrivals.drops == std::array<uint64_t, kDropCauses>{1, 2, 4, 8, 16});
    CHECK(arrivals.dropped() == 31);
    CHECK(std::string(drop_name(kDropKernel)) == "kernel");
    CHECK(std::string(drop_name(kDropBufferFull)) == "buffer_full");
}

TEST_CASE("messages about counters name the options of mapi-cost", "[mapi_cost][run]")
{
    CHECK(
        in_terms_of_program("counter \"instructions\": this machine has no PMU; omit the counters; "
                            "source=step counts instructions, source=auto too") ==
        "counter \"instructions\": this machine has no PMU; use --no-instructions; "
        "--source step counts instructions, --source auto too");
    CHECK(in_terms_of_program("") == "");
}

TEST_CASE("the batch of several passes is the mean of all their batches", "[mapi_cost][run]")
{
    Arrivals sum;
    CHECK(sum.mean_batch() == 0);
    sum.add({1, 64, 6400, 1, 64, {}});
    sum.add({2, 8, 800, 8, 8, {5}});

    CHECK(sum.mean_batch() == 8);
    CHECK(sum.packets == 72);
    CHECK(sum.seconds == 3);
    CHECK(sum.drops[kDropKernel] == 5);
}
