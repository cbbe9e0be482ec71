// SPDX-License-Identifier: MIT
// Shared objects with sites: two at once, loaded and unloaded with and without a session.
#include "work.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include <nsprobe/recorder.h>

using namespace stress;

namespace
{
constexpr uint64_t kObjectRecords = 4;

using Work = void (*)(uint64_t);

struct Object {
    explicit Object(const char *path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL))
    {
        if (handle)
            work = reinterpret_cast<Work>(dlsym(handle, "object_work"));
    }
    ~Object() { dlclose(handle); }
    void *handle;
    Work work = nullptr;
};

std::map<std::string, uint64_t> names(const test_support::Trace &trace)
{
    std::map<std::string, uint64_t> count;
    for (const auto &record : trace.records)
        ++count[trace.name(record)];
    return count;
}
} // namespace

TEST_CASE("two objects with sites in one program write under their own names", "[stress][objects]")
{
    for (const auto &kind : kinds()) {
        Object a(OBJECT_A);
        test_support::ProbeSession session("calibration=no " + kind);
        Object b(OBJECT_B);
        REQUIRE(a.work);
        REQUIRE(b.work);
        for (uint64_t i = 0; i < 1000; ++i) {
            a.work(i);
            b.work(i);
        }
        const auto result = session.close();
        require_accounted(result, 2000 * kObjectRecords);
        auto count = names(result.trace);
        CHECK(count["slice_of_a"] == 2000);
        CHECK(count["slice_of_b"] == 2000);
        CHECK(count["in_object"] == 4000);
    }
}

// In records; with those of the other threads less than a ring holds, so none is lost, however long
// the others take.
constexpr uint64_t kMostBeside = 200000;

TEST_CASE("objects are loaded and unloaded while a session runs and other threads write",
          "[stress][objects]")
{
    for (const auto &kind : kinds()) {
        test_support::ProbeSession session("calibration=no ring=16M " + kind);
        std::atomic<bool> done{false};
        std::atomic<uint64_t> rounds{0};
        const auto issued = run_threads(3, [&](unsigned i) -> uint64_t {
            uint64_t own = 0;
            if (i == 2) {
                for (; !done; std::this_thread::yield())
                    own += own < kMostBeside ? write_units(1) : 0;
                return own;
            }
            for (int round = 0; round < 300; ++round) {
                Object object(i ? OBJECT_A : OBJECT_B);
                for (int n = 0; n < 10; ++n)
                    object.work(n);
                own += 10 * kObjectRecords;
            }
            done = ++rounds == 2;
            return own;
        });
        const auto result = session.close();
        require_accounted(result, issued);
        auto count = names(result.trace);
        CHECK(count["slice_of_a"] + count["slice_of_b"] == 600 * 10 * 2);
        CHECK(count[""] == 0);
        // The same site has the same id each time: reloading does not fill the table.
        CHECK(result.trace.sites.size() < 100);
    }
}

TEST_CASE("the session's rules apply to objects that are loaded later, also rules that are newer",
          "[stress][objects]")
{
    for (const auto &kind : kinds()) {
        test_support::ProbeSession session("calibration=no control=yes slices=slice_of_*,!*_b " +
                                           kind);
        uint64_t expected_of_a = 0;
        for (int round = 0; round < 20; ++round) {
            Object a(OBJECT_A), b(OBJECT_B);
            REQUIRE(a.work);
            REQUIRE(b.work);
            a.work(0);
            b.work(0);
            expected_of_a += 2;
        }
        REQUIRE(nsp_control_slices(getpid(), "!slice_of_a") == 0);
        for (int round = 0; round < 20; ++round) {
            Object a(OBJECT_A), b(OBJECT_B);
            a.work(0);
            b.work(0);
        }
        const auto result = session.close();
        CHECK(result.trace.complaint() == "");
        auto count = names(result.trace);
        CHECK(count["slice_of_a"] == expected_of_a);
        CHECK(count["slice_of_b"] == 40);
        CHECK(count["in_object"] == 80);
    }
}

TEST_CASE("an object brings the library into a program that does not use it, and out again",
          "[stress][objects]")
{
    test_support::TempDir dir;
    const auto output = dir / "t.nsl";
    const std::string command =
        "NETSLICE='calibration=no output=" + output.string() + "' " BARE_LOADER " " OBJECT_A " 100";
    REQUIRE(std::system(command.c_str()) == 0);
    const auto trace = test_support::read_trace(output);
    CHECK(trace.complaint() == "");
    CHECK(trace.issued() == 3 * 100 * kObjectRecords);
    CHECK(trace.footer.end == NSLICE_END_CLOSED);
    CHECK(std::system((std::string(BARE_LOADER " " OBJECT_A " 100")).c_str()) == 0);
}
