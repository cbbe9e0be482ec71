// SPDX-License-Identifier: MIT
// The trace of MAPI's own test suite gives the values that the suite asserts (confirmed by a second
// reader of the trace).
#include "support/catch.hpp"

#include <mapi/functions.h>
#include <mapi/mapi.h>

#include "support/requires.hpp"

namespace
{
// tshark -Y 'frame.time_relative >= 10 && frame.time_relative < 70'
constexpr uint64_t kPacketsFrom10To70s = 178;

std::string trace()
{
    const auto data = test_support::shared_data();
    if (data.empty())
        test_support::skip("the folder of real captures is missing");
    return data.empty() ? "" : data / "mapi/tracefile";
}

// A flow over the trace: `apply` adds its functions.
class Run
{
public:
    template <class Apply>
    Run(const std::string &path, Apply apply)
        : flow_(mapi_create_offline_flow(path.c_str(), MFF_PCAP))
    {
        REQUIRE(flow_ > 0);
        apply(flow_);
        REQUIRE(mapi_connect(flow_) == 0);
        REQUIRE(mapi_wait_flow(flow_, -1) == 0);
    }
    ~Run() { mapi_close_flow(flow_); }
    Run(const Run &) = delete;

    template <class Result> const Result &result(int function)
    {
        const auto *read =
            static_cast<const Result *>(mapi_read_results_pointer(flow_, function, MAPI_REF));
        REQUIRE(read);
        return *read;
    }

private:
    const int flow_;
};

// Number of packets that one function passes.
template <class... Arguments>
uint64_t passed(const std::string &path, const char *function, Arguments... arguments)
{
    int packets = 0;
    Run run(path, [&](int flow) {
        REQUIRE(mapi_apply_function_counted(int(sizeof...(arguments)), flow, function,
                                            arguments...) > 0);
        packets = mapi_apply_function(flow, "PKT_COUNTER");
    });
    return run.result<uint64_t>(packets);
}

double seconds(long double ntp)
{
    return double(ntp / 4294967296.0L);
}
} // namespace

TEST_CASE("packets, bytes and sizes of the original suite's trace equal those of the suite",
          "[mapi-core][flow]")
{
    const std::string path = trace();
    if (path.empty())
        return;
    int packets = 0, bytes = 0, sizes = 0, above = 0;
    Run run(path, [&](int flow) {
        packets = mapi_apply_function(flow, "PKT_COUNTER");
        bytes = mapi_apply_function(flow, "BYTE_COUNTER");
        const int size = mapi_apply_function(flow, "PKTINFO", PKT_SIZE);
        sizes = mapi_apply_function(flow, "STATS", flow, size, "0");
        above = mapi_apply_function(flow, "BINOP", BINOP_SUB, flow, bytes, flow, packets);
    });
    CHECK(run.result<uint64_t>(packets) == 893);
    CHECK(run.result<uint64_t>(bytes) == 283464);
    CHECK(run.result<uint64_t>(above) == 283464 - 893);
    const auto &size = run.result<mapi_value_stats_t>(sizes);
    CHECK(size.count == 893);
    CHECK(size.sum == 283464);
    CHECK(size.sum2 == 309175572);
    CHECK(size.min == 42);
    CHECK(size.max == 1514);
}

TEST_CASE("time stamps and gaps of the original suite's trace add up to its duration",
          "[mapi-core][flow]")
{
    const std::string path = trace();
    if (path.empty())
        return;
    int times = 0, gaps = 0;
    Run run(path, [&](int flow) {
        times = mapi_apply_function(flow, "STATS", flow,
                                    mapi_apply_function(flow, "PKTINFO", PKT_TS), "0");
        gaps = mapi_apply_function(flow, "STATS", flow, mapi_apply_function(flow, "GAP"), "0");
    });
    const auto &time = run.result<mapi_value_stats_t>(times);
    CHECK(seconds(static_cast<long double>(time.max - time.min)) == Approx(118.654).margin(0.001));
    const auto &gap = run.result<mapi_value_stats_t>(gaps);
    CHECK(gap.count == 892);
    CHECK(seconds(gap.sum) == Approx(118.654).margin(0.001));
}

TEST_CASE("filters pass as many packets of the original suite's trace as the suite asserts",
          "[mapi-core][flow]")
{
    const std::string path = trace();
    if (path.empty())
        return;
    CHECK(passed(path, "BPF_FILTER", "tcp") == 596);
    CHECK(passed(path, "STR_SEARCH", "www", 0, 0) == 2);
    CHECK(passed(path, "INTERFACE", 0) == 893);
    CHECK(passed(path, "INTERFACE", 1) == 0);
    const int flow = mapi_create_offline_flow(path.c_str(), MFF_PCAP);
    const bool has_expressions = mapi_apply_function(flow, "REGEXP", "HTTP.*OK") > 0;
    mapi_close_flow(flow);
    if (!has_expressions)
        return test_support::skip("regular expressions require Vectorscan");
    CHECK(passed(path, "REGEXP", "HTTP.*OK") == 4);
}

TEST_CASE("an interval of the original suite's trace has the packets that tshark finds in it",
          "[mapi-core][flow]")
{
    const std::string path = trace();
    if (path.empty())
        return;
    int span = 0, packets = 0;
    Run run(path, [&](int flow) {
        span = mapi_apply_function(flow, "STARTSTOP", "+10s", "+1m");
        packets = mapi_apply_function(flow, "PKT_COUNTER");
    });
    CHECK(run.result<uint64_t>(packets) == kPacketsFrom10To70s);
    const auto &times = run.result<mapi_startstop_t>(span);
    CHECK(times.first_processed - times.first >= uint64_t{10} << 32);
    CHECK(times.last_processed - times.first < uint64_t{70} << 32);
}
