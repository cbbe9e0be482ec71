// SPDX-License-Identifier: MIT
// The trace of MAPI's own test suite gives the values that the suite asserts (and a second reader of the trace confirmed).
#include "support/catch.hpp"

#include <mapi/mapi.h>

#include "support/requires.hpp"

namespace
{
template <class Result> const Result &result(int flow, int function)
{
    const auto *read = static_cast<const Result *>(mapi_read_results_pointer(flow, function, MAPI_REF));
    REQUIRE(read);
    return *read;
}

// Runs a flow over the trace: `apply` adds its functions.
template <class Apply> int run(const std::string &path, Apply apply)
{
    const int flow = mapi_create_offline_flow(path.c_str(), MFF_PCAP);
    REQUIRE(flow > 0);
    apply(flow);
    REQUIRE(mapi_connect(flow) == 0);
    REQUIRE(mapi_wait_flow(flow, -1) == 0);
    return flow;
}
} // namespace

TEST_CASE("the original suite's trace gives the original suite's values", "[mapi-core][flow]")
{
    const auto data = test_support::shared_data();
    if (data.empty())
        return test_support::skip("the folder of real captures is not there");
    const std::string path = data / "mapi/tracefile";

    int packets = 0, bytes = 0, sizes = 0, times = 0, gaps = 0, above = 0;
    int flow = run(path, [&](int fd) {
        packets = mapi_apply_function(fd, "PKT_COUNTER");
        bytes = mapi_apply_function(fd, "BYTE_COUNTER");
        const int size = mapi_apply_function(fd, "PKTINFO", PKT_SIZE);
        sizes = mapi_apply_function(fd, "STATS", fd, size, "0");
        const int time = mapi_apply_function(fd, "PKTINFO", PKT_TS);
        times = mapi_apply_function(fd, "STATS", fd, time, "0");
        const int gap = mapi_apply_function(fd, "GAP");
        gaps = mapi_apply_function(fd, "STATS", fd, gap, "0");
        above = mapi_apply_function(fd, "BINOP", BINOP_SUB, fd, bytes, fd, packets);
        REQUIRE(above > 0);
    });
    CHECK(result<uint64_t>(flow, packets) == 893);
    CHECK(result<uint64_t>(flow, bytes) == 283464);
    CHECK(result<uint64_t>(flow, above) == 283464 - 893);
    const auto size = result<mapi_value_stats_t>(flow, sizes);
    CHECK(size.count == 893);
    CHECK(size.sum == 283464);
    CHECK(size.sum2 == 309175572);
    CHECK(size.min == 42);
    CHECK(size.max == 1514);
    const auto time = result<mapi_value_stats_t>(flow, times);
    CHECK(double(time.max - time.min) / 4294967296.0 == Approx(118.654).margin(0.001));
    const auto gap = result<mapi_value_stats_t>(flow, gaps);
    CHECK(gap.count == 892);
    CHECK(double(gap.sum) / 4294967296.0 == Approx(118.654).margin(0.001));
    mapi_close_flow(flow);

    flow = run(path, [&](int fd) {
        mapi_apply_function(fd, "BPF_FILTER", "tcp");
        packets = mapi_apply_function(fd, "PKT_COUNTER");
    });
    CHECK(result<uint64_t>(flow, packets) == 596);
    mapi_close_flow(flow);

    flow = run(path, [&](int fd) {
        mapi_apply_function(fd, "STR_SEARCH", "www", 0, 0);
        packets = mapi_apply_function(fd, "PKT_COUNTER");
    });
    CHECK(result<uint64_t>(flow, packets) == 2);
    mapi_close_flow(flow);

    flow = mapi_create_offline_flow(path.c_str(), MFF_PCAP);
    if (mapi_apply_function(flow, "REGEXP", "HTTP.*OK") < 0)
        return mapi_close_flow(flow), test_support::skip("regular expressions need Vectorscan");
    mapi_close_flow(flow);
    flow = run(path, [&](int fd) {
        mapi_apply_function(fd, "REGEXP", "HTTP.*OK");
        packets = mapi_apply_function(fd, "PKT_COUNTER");
    });
    CHECK(result<uint64_t>(flow, packets) == 4);
    mapi_close_flow(flow);
}
