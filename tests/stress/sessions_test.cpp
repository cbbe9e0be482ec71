// SPDX-License-Identifier: MIT
// Sessions that are opened and closed while probes run, and snapshots of flight recorders.
#include "work.hpp"

#include <unistd.h>

using namespace stress;

namespace
{
// Catch2's assertions must not fail outside the main thread.
[[noreturn]] void give_up(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, nsp_last_error());
    std::abort();
}
} // namespace

TEST_CASE("sessions open and close while threads keep writing", "[stress][sessions]")
{
    std::atomic<bool> done{false};
    std::atomic<uint64_t> recorded{0};
    std::vector<std::string> options;
    for (const auto &kind : kinds())
        for (const char *more : {" ring=64K", " ring=4K", " ring=1M", " full=overwrite ring=16K",
                                 " clock=ordered ring=8K", " thin=1 ring=256K"})
            options.push_back("calibration=no " + kind + more);
    const auto issued = run_threads(4, [&](unsigned i) -> uint64_t {
        uint64_t own = 0;
        while (i < 3 && !done)
            own += write_units(10);
        if (i < 3)
            return own;
        for (int round = 0; round < 100; ++round) {
            test_support::TempDir dir;
            const std::string output = (dir / "t.nsl").string();
            nsp_session_counts counts{};
            if (nsp_session_configure(
                    (options[round % options.size()] + " output=" + output).c_str()))
                give_up("open");
            usleep(1000 + round * 37 % 3000);
            if (nsp_session_close(&counts))
                give_up("close");
            const auto trace = test_support::read_trace(output);
            const bool is_thinned = !trace.epochs.empty(); // some slices have only one end
            if (!trace.complaint().empty() || (!is_thinned && !is_whole(trace)) ||
                counts.issued != counts.drained + test_support::lost_sum(counts) ||
                trace.issued() != counts.issued || trace.records.size() != counts.drained) {
                fprintf(stderr, "%s: %s\n", options[round % options.size()].c_str(),
                        trace.complaint().c_str());
                std::abort();
            }
            recorded += counts.issued;
        }
        done = true;
        return 0;
    });
    CHECK(recorded > 10000);
    CHECK(recorded <= issued);
}

TEST_CASE("of many threads that open a session, one succeeds and the others are refused",
          "[stress][sessions]")
{
    for (int round = 0; round < 20; ++round) {
        test_support::TempDir dir;
        std::atomic<int> opened{0}, refused{0};
        run_threads(6, [&](unsigned i) -> uint64_t {
            const int err = nsp_session_configure(
                ("calibration=no ring=4K output=" + (dir / std::to_string(i)).string()).c_str());
            ++(err == 0 ? opened : refused);
            return write_units(10);
        });
        CHECK(opened == 1);
        CHECK(refused == 5);
        std::atomic<int> closed{0};
        run_threads(6, [&](unsigned) -> uint64_t {
            closed += nsp_session_close(nullptr) == 0;
            return 0;
        });
        CHECK(closed == 1);
    }
}

TEST_CASE("snapshots of a flight recorder with active writers have no uncounted losses",
          "[stress][sessions]")
{
    for (const auto &kind : kinds())
        for (const char *ring : {" ring=8K", " ring=256K"}) {
            INFO(kind << ring);
            test_support::ProbeSession session("calibration=no full=overwrite " + kind + ring);
            std::atomic<int> working{2}, snapshots{0};
            const auto issued = run_threads(3, [&](unsigned i) -> uint64_t {
                if (i < 2) {
                    // On a busy machine, the writers would finish before the third thread has run.
                    auto own = write_units(200000);
                    while (snapshots < 4)
                        own += write_units(1000);
                    --working;
                    return own;
                }
                for (; working > 0; ++snapshots) {
                    if (nsp_session_snapshot())
                        std::abort();
                    usleep(200);
                }
                return 0;
            });
            const auto result = session.close();
            require_accounted(result, issued);
            REQUIRE(is_whole(result.trace));
            // At least half of a ring, even if both writers shared one CPU and so one ring.
            CHECK(result.trace.records.size() > (std::string(ring) == " ring=8K" ? 256u : 8000u));
        }
}
