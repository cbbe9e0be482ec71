// SPDX-License-Identifier: MIT
// Random thinning of a running session: which probes it switches, and what the trace says of it.
#include "support/probe_session.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <nsprobe/counters.h>
#include <nsprobe/probe.h>

using test_support::ProbeSession;
using test_support::SessionResult;

namespace
{
void one_unit()
{
    NET_SLICE_INIT(batch, 1, 64, 64 * 1500);
    NET_SLICE_START(outer);
    NET_SLICE_START(middle);
    NET_SLICE_MARK(depth, 2);
    NET_SLICE_START(innermost);
    NET_SLICE_STOP(innermost);
    NET_SLICE_STOP(middle);
    NET_SLICE_STOP(outer);
    NET_SLICE_EXIT(batch);
}

// Slowly enough for the drain, on a busy machine as well.
void run_for(std::chrono::milliseconds duration)
{
    const auto end = std::chrono::steady_clock::now() + duration;
    while (std::chrono::steady_clock::now() < end) {
        one_unit();
        std::this_thread::sleep_for(std::chrono::microseconds(2));
    }
}

SessionResult thinned(const std::string &options, std::chrono::milliseconds duration)
{
    ProbeSession session("calibration=no " + options);
    run_for(duration);
    return session.close();
}

std::set<std::string> names_off(const test_support::Trace &trace, const test_support::Epoch &epoch)
{
    std::set<std::string> names;
    for (const uint16_t id : epoch.off)
        names.insert(trace.sites.at(id).name);
    return names;
}
} // namespace

TEST_CASE("only slices and marks inside others are switched off, and some epochs have none of them",
          "[libnsprobe][thin]")
{
    const SessionResult result = thinned("thin=auto", std::chrono::milliseconds(400));
    REQUIRE(result.trace.complaint() == "");
    std::set<std::set<std::string>> seen;
    for (const auto &epoch : result.trace.epochs) {
        CHECK(epoch.pid == uint32_t(getpid()));
        CHECK(std::is_sorted(epoch.off.begin(), epoch.off.end()));
        seen.insert(names_off(result.trace, epoch));
    }
    CHECK(seen.count({}) == 1);
    CHECK(seen.count({"middle", "depth", "innermost"}) == 1);
    CHECK(seen.count({"innermost"}) + seen.count({"depth", "innermost"}) >= 1);
    for (const auto &names : seen) {
        CHECK_FALSE(names.contains("outer"));
        CHECK_FALSE(names.contains("batch"));
    }
}

// The names that are off in the epochs of a session of this length, each as often as it is.
std::multiset<std::string> off_beside_a_start_without_stop(std::chrono::milliseconds duration)
{
    ProbeSession session("calibration=no thin=auto");
    const auto end = std::chrono::steady_clock::now() + duration;
    while (std::chrono::steady_clock::now() < end) {
        NET_SLICE_START(outermost);
        std::this_thread::sleep_for(std::chrono::microseconds(20)); // a window begins here
        NET_SLICE_START(inside);
        NET_SLICE_STOP(inside);
        NET_SLICE_START(never_stopped);
        NET_SLICE_STOP(outermost);
    }
    const SessionResult result = session.close();
    std::multiset<std::string> names;
    for (const auto &epoch : result.trace.epochs)
        names.merge(names_off(result.trace, epoch));
    return names;
}

TEST_CASE("a slice after a START without its STOP is not inside it", "[libnsprobe][thin]")
{
    size_t inner = 0;
    // On a busy machine, the thread that switches probes may rarely run.
    for (int duration_ms = 400; inner <= 10 && duration_ms < 20000; duration_ms *= 3) {
        const auto names = off_beside_a_start_without_stop(std::chrono::milliseconds(duration_ms));
        CHECK_FALSE(names.contains("outermost"));
        inner = names.count("inside") + names.count("never_stopped");
    }
    CHECK(inner > 10);
}

TEST_CASE("the last epoch has no length, and says that everything is on from then on",
          "[libnsprobe][thin]")
{
    std::vector<test_support::Epoch> epochs;
    for (int duration_ms = 300; epochs.empty() && duration_ms < 20000; duration_ms *= 3)
        epochs = thinned("thin=1", std::chrono::milliseconds(duration_ms)).trace.epochs;
    REQUIRE_FALSE(epochs.empty());
    CHECK(epochs.back().off.empty());
    CHECK(epochs.back().begin_ticks == epochs.back().end_ticks);
    CHECK(epochs.front().off.empty()); // nothing is off before the first one
}

TEST_CASE("epochs follow each other, and what is off in one writes no record in it",
          "[libnsprobe][thin]")
{
    const SessionResult result = thinned("thin=1", std::chrono::milliseconds(300));
    const auto &epochs = result.trace.epochs;
    REQUIRE(epochs.size() > 10);
    for (size_t i = 0; i + 1 < epochs.size(); ++i) {
        CHECK(epochs[i].begin_ticks <= epochs[i].end_ticks);
        CHECK(epochs[i].end_ticks <= epochs[i + 1].begin_ticks);
    }
    size_t inside = 0, unexpected = 0;
    for (const auto &record : result.trace.records)
        for (const auto &epoch : epochs)
            if (record.ticks > epoch.begin_ticks && record.ticks < epoch.end_ticks) {
                ++inside;
                unexpected += std::binary_search(epoch.off.begin(), epoch.off.end(), record.slice);
            }
    CHECK(inside > 1000);
    CHECK(unexpected <= 2); // a thread preempted between its look at the switch and its record
}

TEST_CASE("a session without thinning, or with nothing inside a slice, has all records",
          "[libnsprobe][thin]")
{
    const SessionResult off = thinned("thin=off", std::chrono::milliseconds(50));
    CHECK(off.trace.epochs.empty());
    CHECK(off.trace.info.at("session.thin_permille") == "0");
    ProbeSession session("calibration=no thin=auto");
    for (int i = 0; i < 1000; ++i) {
        NET_SLICE_START(alone);
        NET_SLICE_STOP(alone);
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    const SessionResult flat = session.close();
    test_support::require_accounted(flat, 2000);
    CHECK(flat.trace.epochs.empty());
    CHECK(flat.trace.info.at("session.epoch_chunks") == "0");
    CHECK_FALSE(off.trace.info.contains("session.epoch_chunks"));
    CHECK(flat.trace.info.at("session.thin_permille") == "500");
}

TEST_CASE("slices that the rules exclude are not listed as off", "[libnsprobe][thin]")
{
    const SessionResult result =
        thinned("thin=1 slices=outer,innermost", std::chrono::milliseconds(200));
    std::set<std::set<std::string>> seen;
    for (const auto &epoch : result.trace.epochs)
        seen.insert(names_off(result.trace, epoch));
    seen.erase(std::set<std::string>()); // while the library did not know of a name inside another
    CHECK(seen == std::set<std::set<std::string>>{{"innermost"}});
}

TEST_CASE("thinning is refused while instructions are stepped, and for shares that are none",
          "[libnsprobe][thin]")
{
    CHECK(nsp_session_configure("thin=auto counters=instructions source=step") == -ENOTSUP);
    CHECK_THAT(nsp_last_error(), Catch::Contains("thin cannot be combined with source=step"));
    for (const char *share : {"thin=1.5", "thin=-1", "thin=", "thin=0.5x", "thin=on"}) {
        INFO(share);
        CHECK(nsp_session_configure(share) == -EINVAL);
        CHECK_THAT(nsp_last_error(), Catch::Contains("must be auto, off or a share from 0 to 1"));
    }
}

TEST_CASE("probes with counters are switched off as well, and those that are on count",
          "[libnsprobe][thin]")
{
    if (nsp_source_try(NSP_SOURCE_PERF_READ, "page-faults") != 0) {
        WARN(nsp_last_error());
        return;
    }
    const SessionResult result =
        thinned("thin=1 counters=page-faults source=perf-read", std::chrono::milliseconds(400));
    REQUIRE(result.trace.complaint() == "");
    const auto &epochs = result.trace.epochs;
    REQUIRE(epochs.size() > 10);
    size_t with_something_off = 0, unexpected = 0;
    for (const auto &epoch : epochs) {
        with_something_off += !epoch.off.empty();
        for (const auto &record : result.trace.records)
            if (record.ticks > epoch.begin_ticks && record.ticks < epoch.end_ticks)
                unexpected += std::binary_search(epoch.off.begin(), epoch.off.end(), record.slice);
    }
    CHECK(with_something_off > 5);
    CHECK(unexpected <= 2); // a thread preempted between its look at the switch and its record
    for (const auto &record : result.trace.records)
        if (record.kind == NSLICE_KIND_START || record.kind == NSLICE_KIND_STOP)
            REQUIRE(record.words == 1);
}

TEST_CASE("after a thinned session all probes of the next one are on", "[libnsprobe][thin]")
{
    for (int i = 0; i < 20; ++i)
        thinned("thin=1", std::chrono::milliseconds(10));
    ProbeSession session;
    one_unit();
    test_support::require_accounted(session.close(), 9);
}

TEST_CASE("a child of fork() has a session of its own with all probes on", "[libnsprobe][thin]")
{
    ProbeSession session("calibration=no thin=1");
    run_for(std::chrono::milliseconds(100));
    const pid_t child = fork();
    if (child == 0) {
        nsp_session_counts counts{};
        const std::string output = "output=" + session.path().string() + ".child calibration=no";
        int err = nsp_session_configure(output.c_str());
        one_unit();
        err |= nsp_session_close(&counts);
        _exit(err != 0 || counts.drained != 9);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    run_for(std::chrono::milliseconds(20));
    CHECK(session.close().trace.complaint() == "");
}
