// SPDX-License-Identifier: MIT
// trace_sums: a trace -> sums over complete units, net of the probes.
#include "support/catch.hpp"

#include <string>

#include "mapi_cost/run/trace_sums.hpp"
#include "support/temp_dir.hpp"
#include "support/trace_builder.hpp"

using namespace mapi_cost;

namespace
{
constexpr uint64_t kInner = 10; // part of what follows
constexpr uint64_t kOuter = 30;

// Units of 64 packets: a read, a dispatch with a filter inside, a publication.
class Trace
{
public:
    // With a counter whose values are those of the clock.
    explicit Trace(bool has_counter = false) : has_counter_(has_counter)
    {
        builder_.info(std::string("clock.source=tsc\nclock.mode=ordered\nclock.hz=1000000000\n") +
                      (has_counter ? "counters.source=rdpmc\ncounters.names=instructions\n"
                                   : "counters.source=none\ncounters.names=\n"));
        std::vector<nslice_calibration_entry> entries;
        for (unsigned field = 0; field <= has_counter; ++field)
            entries.push_back(test_support::entry(NSLICE_KIND_START, field, kInner, kOuter));
        builder_.calibration(NSLICE_CALIBRATION_START, 0, 0, entries);
        for (const char *name : {"batch", "driver_read", "dispatch", "FILTER", "publish"})
            sites_.push_back(builder_.site(name));
    }

    void unit(uint32_t stop_cpu = 0)
    {
        start(0, sites_[1], now_);
        builder_.init(0, 1, sites_[0], now_ += 500, ++number_, 64, 6400);
        stop(0, sites_[1], now_ += 20);
        start(0, sites_[2], now_ += 10);
        start(0, sites_[3], now_ += 40);
        stop(0, sites_[3], now_ += 640 + kInner);
        stop(stop_cpu, sites_[2], now_ += 24 + kOuter); // inner of this pair, and the part of the
                                                        // filter's that its own slice does not show
        start(0, sites_[4], now_ += 10);
        stop(0, sites_[4], now_ += 32 + kInner);
        builder_.exit(0, 1, sites_[0], now_ += 10);
    }

    // The next pass numbers its units from 1.
    void next_pass() { number_ = 0; }

    std::string write()
    {
        std::string path = folder_ / "trace.nsl";
        builder_.footer(NSLICE_END_CLOSED, now_, now_);
        builder_.write(path);
        return path;
    }

    TraceSums sums(uint64_t units_per_block = 1, uint64_t first_unit = 1,
                   Field field = Field::kTicks, uint64_t packets = UINT64_MAX)
    {
        const std::string path = write();
        SumRequest request;
        request.field = field;
        request.units_per_block = units_per_block;
        request.first_unit = first_unit;
        request.packets = packets;
        request.counted_slices = {"dispatch", "publish"};
        return sum_trace(path, request);
    }

private:
    test_support::Words words(uint64_t count) const
    {
        return has_counter_ ? test_support::Words{count} : test_support::Words{};
    }
    void start(uint32_t cpu, uint16_t site, uint64_t ticks)
    {
        builder_.start(cpu, 1, site, ticks, words(ticks));
    }
    void stop(uint32_t cpu, uint16_t site, uint64_t ticks)
    {
        builder_.stop(cpu, 1, site, ticks, words(ticks));
    }

    bool has_counter_;
    test_support::TempDir folder_;
    test_support::TraceBuilder builder_;
    std::vector<uint16_t> sites_;
    uint64_t now_ = 1000;
    uint64_t number_ = 0;
};
} // namespace

TEST_CASE("a unit's cost is its counted slices, net of the probes around and inside them",
          "[mapi_cost][trace_sums]")
{
    Trace trace;
    for (int i = 0; i < 4; ++i)
        trace.unit();
    const TraceSums sums = trace.sums();

    REQUIRE(sums.blocks.size() == 4);
    CHECK(sums.blocks[0].packets == 64);
    CHECK(sums.blocks[0].raw == 40 + 650 + 54 + 42);
    CHECK(sums.blocks[0].net == 40 + 640 + 24 + 32);
    CHECK(sums.packets() == 256);
    CHECK(sums.units_left_out == 0);
}

TEST_CASE("what is inside a slice costs its factor by thinning, what is left belongs to the slice",
          "[mapi_cost][trace_sums]")
{
    Trace trace;
    trace.unit();
    SumRequest request;
    request.counted_slices = {"dispatch", "publish"};
    request.inside["dispatch"] = {0.5, 0.1};
    const TraceSums sums = sum_trace(trace.write(), request);

    REQUIRE(sums.blocks.size() == 1);
    CHECK(sums.blocks[0].net == 40 + 640 + 24 + 32 + kOuter / 2);
    CHECK(sums.blocks[0].part_net[1] == 640);
    CHECK(sums.blocks[0].part_net[2] == 40 + 24 + kOuter / 2);
    CHECK(sums.blocks[0].subtracted_bound - sums.blocks[0].own_bound == Approx(0.1 * kOuter));
}

TEST_CASE("passes of one trace are distinguished by their units' numbers",
          "[mapi_cost][trace_sums]")
{
    Trace trace;
    for (const int units : {3, 1, 2}) {
        trace.next_pass();
        for (int i = 0; i < units; ++i)
            trace.unit();
    }
    SumRequest request;
    request.counted_slices = {"dispatch", "publish"};
    std::vector<SumRequest> requests(3, request);
    requests[2].first_unit = 2;
    const std::vector<TraceSums> passes = sum_passes(trace.write(), requests);

    REQUIRE(passes.size() == 3);
    CHECK(passes[0].packets() == 3 * 64);
    CHECK(passes[1].packets() == 64);
    CHECK(passes[2].packets() == 64);
    CHECK(passes[2].blocks[0].number == 2);
    CHECK(passes[0].report.losses.issued == passes[0].report.losses.drained);
}

TEST_CASE("parts are what is in a slice but not in nested ones; reading is not counted",
          "[mapi_cost][trace_sums]")
{
    Trace trace;
    trace.unit();
    const TraceSums sums = trace.sums();

    REQUIRE(sums.parts == std::vector<std::string>{"driver_read", "FILTER", "dispatch", "publish"});
    CHECK(sums.is_counted == std::vector<bool>{false, true, true, true});
    REQUIRE(sums.blocks.size() == 1);
    CHECK(sums.blocks[0].part_net[1] == 640);
    CHECK(sums.blocks[0].part_net[2] == 40 + 24);
    CHECK(sums.blocks[0].part_net[3] == 32);
}

TEST_CASE("a unit that changed its CPU is left out and counted", "[mapi_cost][trace_sums]")
{
    Trace trace;
    trace.unit();
    trace.unit(1);
    trace.unit();
    const TraceSums sums = trace.sums();

    CHECK(sums.packets() == 128);
    CHECK(sums.units_left_out == 1);
}

TEST_CASE("a count is the thread's and survives a change of CPU", "[mapi_cost][trace_sums]")
{
    Trace trace(true);
    trace.unit();
    trace.unit(1);
    const TraceSums sums = trace.sums(1, 1, Field::kInstructions);

    REQUIRE(sums.blocks.size() == 2);
    CHECK(sums.blocks[1].net == sums.blocks[0].net);
    CHECK(sums.units_left_out == 0);
}

TEST_CASE("units before the first requested one are warm-up", "[mapi_cost][trace_sums]")
{
    Trace trace;
    for (int i = 0; i < 7; ++i)
        trace.unit();
    const TraceSums sums = trace.sums(2, 4);

    REQUIRE(sums.blocks.size() == 2);
    CHECK(sums.blocks[0].number == 4);
    CHECK(sums.blocks[1].index == 1);
    CHECK(sums.packets() == 256);
}

TEST_CASE("units beyond the requested packets are neither counted nor left out",
          "[mapi_cost][trace_sums]")
{
    Trace trace;
    for (int i = 0; i < 5; ++i)
        trace.unit();
    const TraceSums sums = trace.sums(1, 1, Field::kTicks, 3 * 64 + 63);

    CHECK(sums.packets() == 3 * 64);
    CHECK(sums.units_left_out == 0);
}

TEST_CASE("blocks are merged with the following ones until each has its share of the packets",
          "[mapi_cost][trace_sums]")
{
    TraceSums sums;
    for (const uint64_t packets : {64, 1, 1, 62, 64, 64, 1}) {
        Block block;
        block.number = sums.blocks.size() + 1;
        block.packets = packets;
        block.net = double(packets) * 2;
        block.part_net = {double(packets)};
        sums.blocks.push_back(block);
    }
    const uint64_t packets = sums.packets();
    pool_blocks(sums, 4);

    REQUIRE(sums.blocks.size() == 3);
    CHECK(sums.packets() == packets);
    CHECK(sums.blocks[0].packets == 64 + 1);
    CHECK(sums.blocks[1].packets == 1 + 62 + 64);
    CHECK(sums.blocks[2].packets == 64 + 1); // the rest, too few for a share
    CHECK(sums.blocks[1].number == 3);
    CHECK(sums.blocks[1].index == 1);
    CHECK(sums.blocks[1].net == 2 * 127);
    CHECK(sums.blocks[1].part_net == std::vector<double>{127});
    CHECK(sums.blocks_per_round == 1);
    TraceSums none;
    pool_blocks(none, 4);
    CHECK(none.blocks.empty());
}
