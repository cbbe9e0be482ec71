// SPDX-License-Identifier: MIT
#include "sids/output/table.hpp"

#include <array>

#include "rules.hpp"

using namespace sids_test;

namespace
{
constexpr uint64_t kNtpOf1970 = uint64_t{2208988800} << 32;

// Rules with an id, packets, and the second of the last one.
sids::Entries entries_of(const std::vector<std::array<uint64_t, 3>> &rules)
{
    sids::Entries entries;
    for (const auto &[id, packets, second] : rules) {
        auto entry = std::make_unique<sids::Entry>();
        entry->rule = rule_of("count; msg:\"rule " + std::to_string(id) +
                              "\"; id:" + std::to_string(id) + ";");
        entry->counts = {packets, packets * 100, kNtpOf1970 + (second << 32)};
        entries.push_back(std::move(entry));
    }
    return entries;
}
} // namespace

TEST_CASE("a table has the rules with packets, or all, in their order", "[sids]")
{
    const sids::Entries entries = entries_of({{7, 2, 10}, {5, 0, 0}, {6, 1, 20}});
    CHECK(sids::table_text(entries, false) == "#id\tpackets\tbytes\tlast\tmessage\n"
                                              "7\t2\t200\t1970-01-01 00:00:10.000000\trule 7\n"
                                              "6\t1\t100\t1970-01-01 00:00:20.000000\trule 6\n");
    CHECK_THAT(sids::table_text(entries, true), Catch::Contains("\n5\t0\t0\t-\trule 5\n"));
}

TEST_CASE("a removed rule is marked", "[sids]")
{
    const sids::Entries entries = entries_of({{7, 2, 10}});
    entries.front()->is_removed = true;
    CHECK_THAT(sids::table_text(entries, false), Catch::Contains("\trule 7 (removed)\n"));
}

TEST_CASE("a screen shows the rules that matched last, as many as it has room for", "[sids]")
{
    const sids::Entries entries = entries_of({{7, 2, 10}, {5, 0, 0}, {6, 1, 20}, {8, 1, 5}});
    const std::string text = sids::screen_text(entries, true, "head", {5, 45});
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
        lines.push_back(text.substr(at, text.find('\n', at) - at));
    REQUIRE(lines.size() == 4);
    CHECK(lines[0] == "head");
    CHECK_THAT(lines[2], Catch::StartsWith("         6            1            100"));
    CHECK_THAT(lines[3], Catch::StartsWith("         7            2            200"));
    for (const std::string &line : lines)
        CHECK(line.size() <= 45);
    CHECK(sids::screen_text(entries, true, "head", {1, 10}).size() == 5 + 11);
}
