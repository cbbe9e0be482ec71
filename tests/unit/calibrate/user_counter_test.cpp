// SPDX-License-Identifier: MIT
#include "cases/user_counter.hpp"

#include <cerrno>

#include "support/catch.hpp"

using namespace calibrate;

TEST_CASE("a counter is read in user space only where the kernel's page allows it",
          "[calibrate][counter]")
{
    perf_event_mmap_page page = {};
    CHECK(why_not_readable(page).find("cap_user_rdpmc is 0") != std::string::npos);
    page.cap_user_rdpmc = 1;
    CHECK(why_not_readable(page).find("no register") != std::string::npos);
    page.index = 3;
    CHECK(why_not_readable(page).empty());
}

TEST_CASE("a refusal says what is missing and how to remedy it", "[calibrate][counter]")
{
    CHECK(why_not_opened(ENOENT).find("no PMU") != std::string::npos);
    CHECK(why_not_opened(EACCES).find("perf_event_paranoid") != std::string::npos);
    CHECK(why_not_opened(EMFILE).find("perf_event_open: Too many open files") != std::string::npos);
}

TEST_CASE("an event that does not exist is refused with a reason", "[calibrate][counter]")
{
    const UserCounter counter(999, 0);
    CHECK_FALSE(counter.lacks().empty());
}
