// SPDX-License-Identifier: MIT
// Names of counters -> what is requested from the kernel.
#include "support/catch.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <linux/perf_event.h>

#include <nsprobe/counters.h>

#include "support/requires.hpp"

extern "C" {
#include "counters/event.h"
}

namespace
{
bool has_libpfm()
{
    return nsp_counters_visit([](const nsp_counter_info *, void *) {}, nullptr) == 0;
}
} // namespace

TEST_CASE("the kernel's own names need no library and count user space", "[libnsprobe][event]")
{
    nsp_event event{};
    REQUIRE(nsp_event_find("branch-misses", &event) == 0);
    CHECK(event.code[0].type == PERF_TYPE_HARDWARE);
    CHECK((event.code[0].config & 0xffffffff) == PERF_COUNT_HW_BRANCH_MISSES);
    CHECK(event.exclude_kernel == 1);
    CHECK(event.exclude_user == 0);
}

TEST_CASE("libpfm4 names events with its masks and modifiers", "[libnsprobe][event]")
{
    if (!has_libpfm())
        return test_support::skip(nsp_last_error());
    nsp_event event{};
    REQUIRE(nsp_event_find("perf::INSTRUCTIONS:u:k", &event) == 0);
    CHECK(event.code[0].type == PERF_TYPE_HARDWARE);
    CHECK(event.exclude_kernel == 0);
    CHECK(event.exclude_user == 0);
    REQUIRE(nsp_event_find("L1-DCACHE-LOADS", &event) == 0);
    CHECK(event.code[0].type == PERF_TYPE_HW_CACHE);
    CHECK(event.exclude_kernel == 1);
}

TEST_CASE("the kernel's software events also count in the kernel", "[libnsprobe][event]")
{
    if (!has_libpfm())
        return test_support::skip(nsp_last_error());
    nsp_event event{};
    REQUIRE(nsp_event_find("page-faults", &event) == 0);
    CHECK(event.code[0].type == PERF_TYPE_SOFTWARE);
    CHECK(event.exclude_kernel == 0);
}

TEST_CASE("an unknown name is refused with a list of the known ones and libpfm4's message",
          "[libnsprobe][event]")
{
    nsp_event event{};
    CHECK(nsp_event_find("no-such-event", &event) == -EINVAL);
    CHECK_THAT(nsp_last_error(), Catch::Contains("\"no-such-event\"") &&
                                     Catch::Contains("instructions") && Catch::Contains("libpfm4"));
}

TEST_CASE("a visit lists the kernel's names first, each with its meaning", "[libnsprobe][event]")
{
    std::vector<std::string> names;
    nsp_counters_visit(
        [](const nsp_counter_info *info, void *context) {
            static_cast<std::vector<std::string> *>(context)->push_back(info->name);
            CHECK(std::strlen(info->group) > 0);
        },
        &names);
    REQUIRE(names.size() >= 7);
    CHECK(names.front() == "instructions");
}

TEST_CASE("trying a counter shows how it can be read, or why it cannot", "[libnsprobe][event]")
{
    CHECK(nsp_counter_try("no-such-event") == NSP_COUNTER_REFUSED);
    if (has_libpfm() && nsp_counter_try("page-faults") != NSP_COUNTER_REFUSED) {
        CHECK(nsp_counter_try("page-faults") == NSP_COUNTER_PERF_READ);
        CHECK_THAT(nsp_last_error(), Catch::Contains("source=perf-read"));
    }
}

TEST_CASE("events with masks are listed with each mask, and every listed name is found",
          "[libnsprobe][event]")
{
    struct Names {
        std::vector<std::string> all;
        bool has_mask = false;
    } names;
    const auto note = [](const nsp_counter_info *info, void *context) {
        auto &to = *static_cast<Names *>(context);
        to.all.push_back(info->name);
        const std::string name = info->name;
        const auto pmu = name.find("::");
        to.has_mask |= pmu != std::string::npos && name.find(':', pmu + 2) != std::string::npos;
    };
    if (nsp_counters_visit(note, &names) != 0)
        return test_support::skip(nsp_last_error());
    CHECK(names.has_mask);
    for (const std::string &name : names.all) {
        nsp_event event{};
        const int err = nsp_event_find(name.c_str(), &event);
        INFO(name << ": " << nsp_last_error());
        CHECK(err != -EINVAL); // one that no thread can count is -ENOTSUP
    }
}
