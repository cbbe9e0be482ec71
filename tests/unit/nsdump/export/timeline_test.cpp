// SPDX-License-Identifier: MIT
#include "export/timeline/timeline.hpp"

#include <set>

#include "analyse/correct/correction.hpp"
#include "analyse/pair/user_and_kernel.hpp"
#include "nsdump_support.hpp"
#include "support/catch.hpp"

namespace
{
using nsdump::Stacks;
using nsdump::TimelineEvent;
using nsdump::Track;

class ThreadsSeen final : public nsdump::TimelineWriter
{
public:
    void head(uint64_t, std::string &) override {}
    void track(const Track &track, std::string &) override
    {
        if (track.kind == Track::Kind::thread)
            pids.insert(track.pid);
    }
    void begin(const Track &, const TimelineEvent &, std::string &) override { ++begins; }
    void end(const Track &, uint64_t, std::string &) override {}
    void instant(const Track &, const TimelineEvent &event, std::string &) override
    {
        instants.emplace_back(event.name);
    }
    void counter(const Track &, uint64_t, uint64_t, std::string &) override {}
    void tail(std::string &) override {}

    std::set<uint32_t> pids; // processes of the threads that were declared
    uint64_t begins = 0;
    std::vector<std::string> instants;
};
} // namespace

TEST_CASE("with more threads than have a track at once, each stays in its process",
          "[nsdump][timeline]")
{
    constexpr uint32_t kThreads = Stacks::kMaxTracks + 1000;
    test_support::TraceBuilder builder;
    builder.info(test_support::plain_info(1e9)).info("program.pid=5\n");
    const uint16_t slice = builder.site("slice", NSLICE_KIND_START, "app.c", 1, 77);
    for (uint32_t thread = 1; thread <= kThreads; ++thread) {
        builder.start(0, thread, slice, 1000 + 10 * uint64_t{thread});
        builder.stop(0, thread, slice, 1005 + 10 * uint64_t{thread});
    }
    builder.footer(NSLICE_END_CLOSED, 10'000'000, 10'000'000);
    nsdump::TraceFile trace(test_support::source_of(builder.bytes()));
    const nsdump::Correction correction(trace, nullptr);
    ThreadsSeen writer;
    std::string out;
    nsdump::Timeline timeline(trace, correction, writer, out, false);
    struct Sink {
        nsdump::Timeline &timeline;
        void slice(const nsdump::Slice &slice) { timeline.slice(slice); }
        void unit(const nsdump::Unit &) {}
        void mark(nsdump::NameId, uint64_t) {}
    } sink{timeline};
    nsdump::UserAndKernelPairs pairs(trace, sink, sink);
    nsdump::Merger merger(trace);
    for (nsdump::Run run; merger.next(run);) {
        timeline.run(run);
        pairs.consume(run);
    }
    timeline.finish(true);
    CHECK(writer.begins == kThreads);
    CHECK(writer.pids == std::set<uint32_t>{77});
}

TEST_CASE("a pause is an instant of each CPU, and totals that become smaller are none",
          "[nsdump][timeline]")
{
    test_support::TraceBuilder builder;
    builder.info(test_support::plain_info(1e9));
    const uint16_t slice = builder.site("slice");
    builder.start(0, 1, slice, 100);
    builder.start(1, 2, slice, 110);
    builder.leave_out(10);
    builder.stop(0, 1, slice, 200);
    builder.stop(1, 2, slice, 210);
    builder.leave_out(~uint64_t{0} - 5); // 6 less
    builder.start(0, 1, slice, 300);
    nsdump::TraceFile trace(test_support::source_of(builder.bytes()));
    const nsdump::Correction correction(trace, nullptr);
    ThreadsSeen writer;
    std::string out;
    nsdump::Timeline timeline(trace, correction, writer, out, false);
    nsdump::Merger merger(trace);
    for (nsdump::Run run; merger.next(run);)
        timeline.run(run);
    CHECK(writer.instants == std::vector<std::string>(2, "recording was paused"));
}
