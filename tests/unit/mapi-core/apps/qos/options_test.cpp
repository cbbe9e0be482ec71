// SPDX-License-Identifier: MIT
#include "qos/options.hpp"

#include <array>

#include "support/catch.hpp"

namespace
{
template <size_t count> std::optional<int> parse(const std::array<const char *, count> &words)
{
    qos::Options options;
    std::vector<char *> arguments;
    for (const char *const word : words)
        arguments.push_back(const_cast<char *>(word));
    return qos::parse_options(int(count), arguments.data(), options);
}
} // namespace

TEST_CASE("a rate is a part or a percentage, more than nothing and at most all", "[mapi-core][qos]")
{
    CHECK(qos::hashes_below("100%") == int64_t(1) << 32);
    CHECK(qos::hashes_below("1") == int64_t(1) << 32);
    CHECK(qos::hashes_below("50%") == int64_t(1) << 31);
    CHECK(qos::hashes_below("0.05") == qos::hashes_below("5%"));
    for (const char *const wrong : {"0", "0%", "-1%", "101%", "1.1", "", "%", "x", "nan", "1e-12"})
        CHECK_FALSE(qos::hashes_below(wrong));
}

TEST_CASE("a source is required, and only one kind of it", "[mapi-core][qos]")
{
    CHECK(parse(std::array{"mapi-qos", "collect", "--point", "a", "--store", "s"}) ==
          qos::kExitUsage);
    CHECK(parse(std::array{"mapi-qos", "collect", "--point", "a", "--store", "s", "-r", "c", "-i",
                           "eth0"}) == qos::kExitUsage);
    CHECK_FALSE(
        parse(std::array{"mapi-qos", "collect", "--point", "a", "--store", "s", "-r", "c"}));
}

TEST_CASE("a point's name is printable", "[mapi-core][qos]")
{
    CHECK(parse(std::array{"mapi-qos", "collect", "--point", "a\nb", "--store", "s", "-r", "c"}) ==
          qos::kExitUsage);
    CHECK(parse(std::array{"mapi-qos", "report", "--store", "s", "--from", "a", "--to", "a"}) ==
          qos::kExitUsage);
}

TEST_CASE("a time that does not fit into nanoseconds is refused", "[mapi-core][qos]")
{
    const auto collect = [](const char *option, const char *seconds) {
        return parse(std::array{"mapi-qos", "collect", "--point", "a", "--store", "s", "-r", "c",
                                option, seconds});
    };
    for (const char *const wrong : {"1e300", "inf", "nan", "-1"})
        CHECK(collect("--patience", wrong) == qos::kExitUsage);
    CHECK_FALSE(collect("--patience", "0"));
    CHECK(parse(std::array{"mapi-qos", "report", "--store", "s", "--from", "a", "--to", "b",
                           "--last", "1e300"}) == qos::kExitUsage);
}

TEST_CASE("messages do not show the password of a store", "[mapi-core][qos]")
{
    CHECK(qos::shown_store("postgresql://me:secret@db/qos") == "postgresql://me:***@db/qos");
    CHECK(qos::shown_store("postgresql://me@db:5432/qos") == "postgresql://me@db:5432/qos");
    CHECK(qos::shown_store("a:b@c.db") == "a:b@c.db");
}
