// SPDX-License-Identifier: MIT
// The first lines of a kind about a user are logged, the others are counted without loss, in
// bounded memory.
#include "daemon/reporting/line_limit.hpp"

#include <vector>

#include "support/catch.hpp"

using mapi::daemon::LineLimit;
using namespace std::chrono_literals;

namespace
{
constexpr LineLimit::Clock::time_point kStart{1000s};

// Gives `count` lines at once; how many of them are to be logged.
unsigned give(LineLimit &limit, unsigned count, LineLimit::Clock::time_point now,
              std::string_view kind = "refused", uid_t user = 1)
{
    unsigned admitted = 0;
    for (unsigned i = 0; i < count; ++i)
        admitted += limit.admit(now, kind, user, {spdlog::level::warn, "line"});
    return admitted;
}

std::vector<std::string> take_all(LineLimit &limit, LineLimit::Clock::time_point now,
                                  LineLimit::Clock::duration interval = LineLimit::kInterval)
{
    std::vector<std::string> texts;
    while (const auto line = limit.take(now, interval))
        texts.push_back(line->text);
    return texts;
}
} // namespace

TEST_CASE("the first lines are logged, then one for each interval, until a quiet one",
          "[daemon][log]")
{
    LineLimit limit;
    CHECK(give(limit, 5, kStart) == 5);
    CHECK(give(limit, 1000, kStart + 1s) == 0);
    CHECK(limit.next_end() == kStart + 10s);
    CHECK(take_all(limit, kStart + 9999ms).empty());
    CHECK(take_all(limit, kStart + 10003ms) ==
          std::vector<std::string>{"line (999 more like this in 10 s)"});
    CHECK(give(limit, 1, kStart + 11s) == 0);
    CHECK(take_all(limit, kStart + 20003ms) == std::vector<std::string>{"line"});
    CHECK(take_all(limit, kStart + 30003ms).empty());
    CHECK(limit.is_empty());
    CHECK(give(limit, 6, kStart + 31s) == 5);
}

TEST_CASE("kinds and users are counted separately", "[daemon][log]")
{
    LineLimit limit;
    CHECK(give(limit, 9, kStart, "refused", 1) == 5);
    CHECK(give(limit, 9, kStart, "dropped", 1) == 5);
    CHECK(give(limit, 9, kStart, "refused", 0) == 5);
    CHECK(take_all(limit, kStart + 10s) ==
          std::vector<std::string>(3, "line (3 more like this in 10 s)"));
}

TEST_CASE("what is still counted is available before the interval ends", "[daemon][log]")
{
    LineLimit limit;
    give(limit, 9, kStart);
    CHECK(take_all(limit, kStart + 1600ms, 0s) ==
          std::vector<std::string>{"line (3 more like this in 2 s)"});
    CHECK(limit.is_empty());
    CHECK(limit.next_end() == LineLimit::Clock::time_point::max());
}

TEST_CASE("any number of users takes bounded lines and memory, and none of their lines is lost",
          "[daemon][log]")
{
    constexpr uid_t kUsers = 65536;
    LineLimit limit;
    unsigned admitted = 0;
    for (uid_t user = 0; user < kUsers; ++user)
        admitted += give(limit, 2, kStart, "refused", user);
    CHECK(admitted == LineLimit::kCountsMost * 2 + LineLimit::kFirst);
    const unsigned waiting = kUsers * 2 - admitted;
    CHECK(take_all(limit, kStart + 10s) ==
          std::vector<std::string>{"line (" + std::to_string(waiting - 1) +
                                   " more like this, of several users, in 10 s)"});
    // users whose counts were quiet have left their places to others
    CHECK(give(limit, 9, kStart + 11s, "refused", kUsers) == LineLimit::kFirst);
}

TEST_CASE("the level and the text are those of the last line", "[daemon][log]")
{
    LineLimit limit;
    give(limit, 6, kStart);
    limit.admit(kStart, "refused", 1, {spdlog::level::err, "last"});
    const auto line = limit.take(kStart + 10s);
    REQUIRE(line);
    CHECK(line->level == spdlog::level::err);
    CHECK(line->text == "last (1 more like this in 10 s)");
}
