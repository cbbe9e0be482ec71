// SPDX-License-Identifier: MIT
// fork() of a program whose other threads are busy; exec() out of a session.
#include "work.hpp"

#include <sys/wait.h>
#include <unistd.h>

using namespace stress;

namespace
{
#if defined(__SANITIZE_THREAD__)
constexpr bool kChildrenOpen = false,
               kBusyChildrenOpen = false; // TSan cannot start threads in a child of fork()
#elif defined(__SANITIZE_ADDRESS__)
// ASan's allocator locks stay locked in the child if another thread was in malloc() during fork().
constexpr bool kChildrenOpen = true, kBusyChildrenOpen = false;
#else
constexpr bool kChildrenOpen = true, kBusyChildrenOpen = true;
#endif

int child_status(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

// A child with its own session: 0 if its loss equation holds.
int child_session(const std::string &output)
{
    nsp_session_counts counts{};
    if (nsp_session_configure(("calibration=no ring=1M output=" + output).c_str()))
        return 1;
    write_units(500);
    if (nsp_session_close(&counts))
        return 2;
    return counts.issued == 500 * kUnitRecords &&
                   counts.issued == counts.drained + test_support::lost_sum(counts)
               ? 0
               : 3;
}
} // namespace

TEST_CASE("children of a busy program write nothing into its session and may open their own",
          "[stress][fork]")
{
    for (const auto &kind : kinds()) {
        test_support::TempDir dir;
        test_support::ProbeSession session("calibration=no ring=4M " + kind);
        std::atomic<bool> done{false};
        std::vector<int> statuses;
        const auto issued = run_threads(3, [&](unsigned i) -> uint64_t {
            uint64_t own = 0;
            if (i > 0) {
                while (!done) {
                    own += write_units(10);
                    if (own % 7000 == 0)
                        NET_SLICE_CREATE("churn of the site table");
                }
                return own;
            }
            for (int round = 0; round < 30; ++round) {
                const pid_t child = fork();
                if (child == 0) {
                    write_units(100); // probes are off here
                    _exit(kBusyChildrenOpen && round % 2
                              ? child_session((dir / ("c" + std::to_string(round))).string())
                              : 0);
                }
                statuses.push_back(child_status(child));
                own += write_units(5);
            }
            done = true;
            return own;
        });
        const auto result = session.close();
        require_accounted(result, issued);
        REQUIRE(is_whole(result.trace));
        for (const int status : statuses)
            CHECK(status == 0);
        for (int round = 1; kBusyChildrenOpen && round < 30; round += 2) {
            const auto trace = test_support::read_trace(dir / ("c" + std::to_string(round)));
            CHECK(trace.complaint() == "");
            CHECK(trace.issued() == 500 * kUnitRecords);
        }
    }
}

TEST_CASE("a child of a program with a session opens its own", "[stress][fork]")
{
    for (const auto &kind : kinds()) {
        if (!kChildrenOpen)
            break;
        test_support::TempDir dir;
        const std::string output = (dir / "c").string();
        test_support::ProbeSession session("calibration=no " + kind);
        write_units(10);
        const pid_t child = fork();
        if (child == 0)
            _exit(child_session(output));
        CHECK(child_status(child) == 0);
        CHECK(test_support::read_trace(output).issued() == 500 * kUnitRecords);
        write_units(10);
        require_accounted(session.close(), 20 * kUnitRecords);
    }
}

TEST_CASE("exec ends a session without a footer: the file is valid as far as it goes",
          "[stress][fork]")
{
    test_support::TempDir dir;
    const std::string output = (dir / "t.nsl").string();
    const pid_t child = fork();
    if (child == 0) {
        if (nsp_session_configure(("calibration=no ring=1M output=" + output).c_str()))
            _exit(1);
        write_units(1000);
        usleep(50000); // one or two drains
        execl("/bin/true", "true", nullptr);
        _exit(2);
    }
    CHECK(child_status(child) == 0);
    const auto trace = test_support::read_trace(output);
    CHECK(trace.complaint() == "");
    CHECK_FALSE(trace.has_footer);
    CHECK(trace.records.size() == 1000 * kUnitRecords);
}

TEST_CASE("a child that ends by exit does not affect its parent's session", "[stress][fork]")
{
    test_support::ProbeSession session("calibration=no");
    write_units(10);
    const pid_t child = fork();
    if (child == 0)
        exit(7); // runs the library's destructor
    CHECK(WEXITSTATUS(child_status(child)) == 7);
    write_units(10);
    require_accounted(session.close(), 20 * kUnitRecords);
}
