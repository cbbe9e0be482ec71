// SPDX-License-Identifier: MIT
// Sessions as a program uses them: options -> a trace of what the probes were given, or a clear
// refusal.
#include "support/probe_session.hpp"
#include "support/temp_dir.hpp"

#include <cmath>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sys/wait.h>

#include <nsprobe/probe.h>

#include "support/requires.hpp"

extern "C" {
#include "session/memory.h"
#include "session/process.h"
}

using test_support::ProbeSession;
using test_support::require_accounted;

namespace
{
void one_unit(uint64_t number)
{
    NET_SLICE_INIT(batch, number, 64, 64 * 1500);
    NET_SLICE_START(filter);
    NET_SLICE_MARK(depth, number * 10);
    NET_SLICE_STOP(filter);
    NET_SLICE_EXIT(batch);
}
constexpr unsigned kUnitRecords = 5;

std::string kinds_of(const test_support::Trace &trace)
{
    std::string text;
    for (const auto &record : trace.records)
        text += "?+-mie"[record.kind] + trace.name(record) + ' ';
    return text;
}

void stay_on_one_cpu()
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

nslice_ring_meta *ring_of_this_cpu()
{
    return reinterpret_cast<nslice_ring_meta *>(nsp_detail_state.rings +
                                                sched_getcpu() * nsp_detail_state.stride_bytes);
}
} // namespace

TEST_CASE("a program can ask whether a session records", "[libnsprobe][session]")
{
    CHECK(!NET_SLICE_IS_ON());
    ProbeSession session;
    CHECK(NET_SLICE_IS_ON());
    session.close();
    CHECK(!NET_SLICE_IS_ON());
}

TEST_CASE("a session's trace holds what the probes were given", "[libnsprobe][session]")
{
    stay_on_one_cpu();
    for (const char *options :
         {"calibration=no", "calibration=no kind=atomic", "calibration=no clock=ordered",
          "calibration=no full=overwrite", "calibration=no kind=atomic full=overwrite"}) {
        INFO(options);
        ProbeSession session(options);
        one_unit(7);
        one_unit(8);
        const auto result = session.close();
        require_accounted(result, 2 * kUnitRecords);
        const auto &records = result.trace.records;
        REQUIRE(kinds_of(result.trace) ==
                "ibatch +filter mdepth -filter ebatch ibatch +filter mdepth -filter ebatch ");
        CHECK(records[5].word[0] == 8);
        CHECK(records[5].word[1] == 64);
        CHECK(records[5].word[2] == 96000);
        CHECK(records[2].word[0] == 70);
        CHECK(records[1].words == 0);
        CHECK(records[0].thread == uint32_t(gettid()));
        const auto &site = result.trace.sites.at(records[1].slice);
        CHECK_THAT(site.file, Catch::EndsWith("session_test.cpp"));
        CHECK(site.line > 20);
        CHECK(site.kind == NSLICE_KIND_START);
        CHECK(result.trace.footer.end == NSLICE_END_CLOSED);
    }
}

TEST_CASE("probes outside a session leave no record", "[libnsprobe][session]")
{
    one_unit(1);
    ProbeSession session;
    one_unit(2);
    const auto result = session.close();
    one_unit(3);
    require_accounted(result, kUnitRecords);
}

TEST_CASE("the trace says how it was made", "[libnsprobe][session]")
{
    ProbeSession session("calibration=no ring=64K clock=ordered kind=atomic full=overwrite");
    const auto result = session.close();
    require_accounted(result, 0);
    auto info = result.trace.info;
    CHECK(info["clock.mode"] == "ordered");
    CHECK(info["ring.kind"] == "atomic");
    CHECK(info["ring.bytes"] == "65536");
    CHECK(info["ring.full"] == "overwrite");
    CHECK(info["counters.source"] == "none");
    CHECK(info["counters.names"] == "");
    CHECK(info["program.pid"] == std::to_string(getpid()));
    CHECK(std::stod(info["clock.hz"]) > 1e6);
}

TEST_CASE("ring kind rseq is accepted where glibc has it and refused with a message elsewhere",
          "[libnsprobe][session]")
{
    if (nsp_has_rseq()) {
        ProbeSession session;
        one_unit(1);
        CHECK(session.close().trace.info["ring.kind"] == "rseq");
        return;
    }
    test_support::TempDir dir;
    CHECK(nsp_session_configure(
              ("kind=rseq calibration=no output=" + (dir / "t.nsl").string()).c_str()) == -ENOTSUP);
    CHECK_FALSE(std::filesystem::exists(dir / "t.nsl"));
    CHECK_THAT(nsp_last_error(), Catch::Contains("no rseq") && Catch::Contains("kind=atomic"));
    ProbeSession session;
    one_unit(1);
    const auto result = session.close();
    require_accounted(result, kUnitRecords);
    CHECK(result.trace.info.at("ring.kind") == "atomic");
}

TEST_CASE("a session calibrates itself at its start and end", "[libnsprobe][session]")
{
    ProbeSession session("calibration=yes");
    one_unit(1);
    const auto result = session.close();
    require_accounted(result, kUnitRecords);
    REQUIRE(result.trace.calibrations.size() == 2);
    CHECK(result.trace.calibrations[0].head.phase == NSLICE_CALIBRATION_START);
    CHECK(result.trace.calibrations[1].head.phase == NSLICE_CALIBRATION_END);
    for (const auto &calibration : result.trace.calibrations) {
        CHECK(calibration.head.clock_read_ticks > 0);
        REQUIRE(calibration.entries.size() >= 4);
        for (const auto &entry : calibration.entries) {
            const unsigned kind = entry.kind & ~(NSLICE_ENTRY_ALONE | NSLICE_ENTRY_OVERTAKING);
            // Between work it may be hidden entirely.
            CHECK((!(entry.kind & NSLICE_ENTRY_ALONE) || entry.outer > 0));
            CHECK(std::fabs(entry.outer) < 1e6);
            CHECK((kind == NSLICE_KIND_START) == (entry.inner != 0));
        }
    }
}

TEST_CASE("a second session is refused while one is open, and the first continues",
          "[libnsprobe][session]")
{
    ProbeSession session;
    one_unit(1);
    CHECK(nsp_session_configure("output=/no/such/folder calibration=no") == -EBUSY);
    CHECK_THAT(nsp_last_error(), Catch::Contains("a session is already open"));
    one_unit(2);
    require_accounted(session.close(), 2 * kUnitRecords);
}

TEST_CASE("closing and taking snapshots need an open session of the right policy",
          "[libnsprobe][session]")
{
    CHECK(nsp_session_close(nullptr) == -ENOENT);
    CHECK(nsp_session_snapshot() == -ENOENT);
    ProbeSession session;
    CHECK(nsp_session_snapshot() == -EINVAL);
    CHECK_THAT(nsp_last_error(), Catch::Contains("full=overwrite"));
}

TEST_CASE("an unsupported configuration is refused with a message", "[libnsprobe][session]")
{
    const test_support::TempDir folder;
    const std::string path = folder / "refused.nsl";
    const auto refuse = [&](const std::string &options, int err, const char *words) {
        INFO(options);
        CHECK(nsp_session_configure(("output=" + path + " calibration=no " + options).c_str()) ==
              err);
        CHECK_THAT(nsp_last_error(), Catch::Contains(words));
        CHECK(access(path.c_str(), F_OK) != 0);
        CHECK(nsp_session_close(nullptr) == -ENOENT);
    };
    refuse("ring=5000", -EINVAL, "power of two");
    refuse("ring=2K", -EINVAL, "power of two");
    refuse("ring=16G", -EINVAL, "power of two");
    refuse("counters=wishes", -EINVAL, "unknown counter");
    refuse("counters=instructions source=none", -EINVAL, "source=none");
    refuse("output=/no/such/folder/t.nsl", -ENOENT, "/no/such/folder/t.nsl");
    refuse("output=/proc/t.nsl", -ENOENT, "/proc/t.nsl");
    refuse("output=/tmp", -EISDIR, "/tmp");
    nsp_session_config config{};
    CHECK(nsp_session_open(&config) == -EINVAL);
    CHECK(nsp_session_open(nullptr) == -EINVAL);
    config.struct_size = sizeof config;
    config.ring_kind = 99;
    CHECK(nsp_session_open(&config) == -EINVAL);
    config.ring_kind = 0;
    const std::string longest(600, 'x');
    config.output = longest.c_str();
    CHECK(nsp_session_open(&config) == -ENAMETOOLONG);
    config.output = path.c_str();
    config.counters = longest.c_str();
    CHECK(nsp_session_open(&config) == -EINVAL);
}

TEST_CASE("a name given at run time is a slice like any other", "[libnsprobe][session]")
{
    struct nsp_slice *before = NET_SLICE_CREATE("made before");
    ProbeSession session;
    struct nsp_slice *during = NET_SLICE_CREATE("made during");
    NET_SLICE_START_AT(before);
    NET_SLICE_START_AT(during);
    NET_SLICE_STOP_AT(during);
    NET_SLICE_STOP_AT(before);
    const auto result = session.close();
    require_accounted(result, 4);
    CHECK(kinds_of(result.trace) == "+made before +made during -made during -made before ");
}

TEST_CASE("%p in the output becomes the process id", "[libnsprobe][session]")
{
    test_support::TempDir dir;
    REQUIRE(nsp_session_configure(
                ("calibration=no output=" + (dir / "a-%p-b.nsl").string()).c_str()) == 0);
    REQUIRE(nsp_session_close(nullptr) == 0);
    CHECK(
        test_support::read_trace(dir / ("a-" + std::to_string(getpid()) + "-b.nsl")).complaint() ==
        "");
}

TEST_CASE("on a full disk, later records are counted as lost, and the trace stays readable",
          "[libnsprobe][session]")
{
    test_support::TempDir dir;
    if (unshare(CLONE_NEWNS) || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
        mount("tmpfs", dir.path().c_str(), "tmpfs", 0, "size=1m"))
        return test_support::skip("no private mount namespace");
    const std::string output = (dir / "t.nsl").string();
    constexpr uint64_t kUnits = 100000;
    nsp_session_counts counts;
    REQUIRE(nsp_session_configure(("calibration=no output=" + output).c_str()) == 0);
    for (uint64_t i = 0; i < kUnits; ++i) {
        one_unit(i);
        if (i % 1000 == 0)
            usleep(1000);
    }
    CHECK(nsp_session_close(&counts) == -ENOSPC);
    CHECK_THAT(nsp_last_error(),
               Catch::Contains(output) &&
                   Catch::Contains("No space left on device (free some space there") &&
                   Catch::Contains("counted as lost"));
    const auto trace = test_support::read_trace(output);
    CHECK(trace.complaint() == "");
    CHECK(trace.footer.end == NSLICE_END_WRITE_ERROR);
    CHECK(counts.issued == kUnits * kUnitRecords);
    CHECK(counts.drained == trace.records.size());
    CHECK(counts.drained > 10000);
    CHECK(counts.lost[NSLICE_LOST_WRITE] > 0);
    CHECK(counts.issued == counts.drained + test_support::lost_sum(counts));
    CHECK(trace.lost(NSLICE_LOST_WRITE) == counts.lost[NSLICE_LOST_WRITE]);
    umount(dir.path().c_str());
}

TEST_CASE("reaching the file size limit loses records but does not end the program",
          "[libnsprobe][session]")
{
    test_support::TempDir dir;
    const std::string output = (dir / "t.nsl").string();
    nsp_session_counts counts;
    rlimit before;
    REQUIRE(nsp_session_configure(("calibration=no output=" + output).c_str()) == 0);
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{1 << 20, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small); // SIGXFSZ has its default action here
    for (uint64_t i = 0; i < 50000; ++i)
        one_unit(i);
    CHECK(nsp_session_close(&counts) == -EFBIG);
    const int opened =
        nsp_session_configure(("calibration=no output=" + (dir / "second.nsl").string()).c_str());
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(opened == -ENOMEM);
    CHECK_THAT(nsp_last_error(), Catch::Contains("ulimit -f"));
    CHECK(counts.lost[NSLICE_LOST_WRITE] > 0);
    CHECK(counts.issued == counts.drained + test_support::lost_sum(counts));
    CHECK(test_support::read_trace(output).complaint() == "");
}

TEST_CASE("a closed session gives back the memory of its rings", "[libnsprobe][session]")
{
    const auto shared_kib = [] {
        std::ifstream status("/proc/self/status");
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("RssShmem:"))
                return std::stoul(line.substr(line.find_first_of("0123456789")));
        return 0ul;
    };
    for (int i = 0; i < 4; ++i) {
        ProbeSession session("ring=16M calibration=no");
        one_unit(1);
        CHECK(shared_kib() > 16 << 10);
        session.close();
    }
    CHECK(shared_kib() < 4 << 10);
}

TEST_CASE("rings larger than the available memory are refused", "[libnsprobe][session]")
{
    test_support::TempDir dir;
    if (nsp_available_memory_bytes() > uint64_t(sysconf(_SC_NPROCESSORS_ONLN)) << 33)
        return; // 8 GiB a CPU is the largest ring, and this machine has that much
    CHECK(nsp_session_configure(("ring=8G output=" + (dir / "t.nsl").string()).c_str()) == -ENOMEM);
    CHECK_THAT(nsp_last_error(),
               Catch::Contains("MiB of memory are available (use smaller rings)"));
}

TEST_CASE("a child of fork has its probes off and may open its own session",
          "[libnsprobe][session]")
{
#ifdef __SANITIZE_THREAD__
    return test_support::skip("ThreadSanitizer cannot start threads in a child of fork()");
#endif
    stay_on_one_cpu();
    ProbeSession session;
    test_support::TempDir dir;
    one_unit(1);
    // A thread that starts allocates, and the child would inherit a locked allocator from
    // AddressSanitizer.
    const auto *ring = ring_of_this_cpu();
    while (__atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) !=
           ring->head) // the drain thread has not started yet
        usleep(1000);
    const pid_t child = fork();
    if (child == 0) {
        nsp_session_counts counts{};
        one_unit(2); // no session: the records are dropped
        const int opened = nsp_session_configure(
            ("calibration=no output=" + (dir / "child.nsl").string()).c_str());
        one_unit(3);
        one_unit(4);
        const int closed = nsp_session_close(&counts);
        _exit(opened || closed || counts.issued != 2 * kUnitRecords);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    const auto in_child = test_support::read_trace(dir / "child.nsl");
    CHECK(in_child.complaint() == "");
    CHECK(in_child.issued() == 2 * kUnitRecords);
    REQUIRE(!in_child.records.empty());
    CHECK(in_child.records[0].thread == uint32_t(child));
    require_accounted(session.close(), kUnitRecords);
}

TEST_CASE("a child of fork keeps neither the trace nor the rings of its parent open",
          "[libnsprobe][session]")
{
    ProbeSession session;
    int ends[2];
    char answer = 0;
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        char path[64], target[256];
        char found = 'n';
        for (int fd = 3; fd < 100; ++fd) {
            snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
            const ssize_t bytes = readlink(path, target, sizeof target - 1);
            target[std::max<ssize_t>(bytes, 0)] = 0;
            if (strstr(target, "netslice-session") || strstr(target, "trace.nsl"))
                found = 'y';
        }
        _exit(write(ends[1], &found, 1) != 1);
    }
    REQUIRE(read(ends[0], &answer, 1) == 1);
    CHECK(answer == 'n');
    waitpid(child, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
    require_accounted(session.close(), 0);
}

TEST_CASE("an unread flight recorder counts correctly beyond 2^32 units", "[libnsprobe][session]")
{
    constexpr uint64_t kJumpRecords = (1u << 30) - 1024,
                       kJumps = 4; // plain heads: two units each
    stay_on_one_cpu();
    ProbeSession session("calibration=no full=overwrite ring=64K");
    auto *ring = ring_of_this_cpu();
    one_unit(1);
    for (uint64_t i = 0; i < kJumps; ++i) {
        // As a ring is after overwriting for a long time: nothing in it, all counted.
        const uint64_t in_ring = NSLICE_POSITION_RECORDS(ring->head - ring->tail);
        ring->head += (kJumpRecords << 32) + 2 * kJumpRecords;
        ring->tail = ring->head;
        ring->limit = uint32_t(ring->tail) + ring->mask + 1;
        ring->lost[NSLICE_LOST_OVERWRITTEN] += kJumpRecords + in_ring;
        usleep(1300000); // the library checks once a second
    }
    one_unit(2);
    const auto result = session.close();
    require_accounted(result, kJumps * kJumpRecords + 2 * kUnitRecords);
    CHECK(result.counts.drained == kUnitRecords);
}
