// SPDX-License-Identifier: MIT
#include "cli/top/rows.hpp"

#include <nlohmann/json.hpp>

#include "cli/top/text.hpp"
#include "support/catch.hpp"
#include "top_fixture.hpp"

using nsdump::TopInterval;
using nsdump::TopOrder;
using nsdump::TopSort;

namespace
{
std::vector<std::string> names(const TopInterval &interval, const TopOrder &order)
{
    std::vector<std::string> names;
    for (const nsdump::TopRow &row : nsdump::rows_of(interval, order))
        names.push_back(row.name);
    return names;
}
} // namespace

TEST_CASE("values are net nanoseconds, rates per second, and shares of a CPU", "[nsdump][top]")
{
    const TopInterval interval = top_fixture::interval();
    const nsdump::TopRow row = nsdump::rows_of(interval, {}).front();
    CHECK(row.name == "many-short");
    CHECK(row.per_s == 2000);
    CHECK(row.ns->mean == 50);
    CHECK(*row.ns->ci95 == 5);
    CHECK(*row.share == Approx(4000 * 50 / 2e9));
    CHECK(row.is_net);
    CHECK_FALSE(row.packet_ns.has_value());
}

TEST_CASE("without constants values are raw, and say so", "[nsdump][top]")
{
    TopInterval interval = top_fixture::interval();
    for (nsdump::SliceReport &slice : interval.live.report.slices)
        slice.values[0].net.reset();
    const nsdump::TopRow row = nsdump::rows_of(interval, {}).front();
    CHECK_FALSE(row.is_net);
    CHECK(row.ns->mean == 55);
    CHECK_FALSE(interval.pair_ns().has_value());
    CHECK(nsdump::top_table(interval, {row}, {}).find("55.0r") != std::string::npos);
}

TEST_CASE("rows are in the requested order, those without the value last", "[nsdump][top]")
{
    TopInterval interval = top_fixture::interval();
    auto &slices = interval.live.report.slices;
    CHECK(names(interval, {}) == std::vector<std::string>{"many-short", "some", "few-long"});
    CHECK(names(interval, {TopSort::kTime, true, ""}) ==
          std::vector<std::string>{"few-long", "some", "many-short"});
    CHECK(names(interval, {TopSort::kRate, false, ""}).front() == "many-short");
    slices[0].values.push_back(top_fixture::field("instructions", 7, 10));
    CHECK(names(interval, {TopSort::kInstructions, false, ""}).front() == "few-long");
    CHECK(names(interval, {TopSort::kInstructions, true, ""}).front() == "few-long");
    slices[2].values[0].per_packet.emplace().net = 8;
    CHECK(names(interval, {TopSort::kPacket, false, ""}).front() == "some");
}

TEST_CASE("a filter keeps names that contain it", "[nsdump][top]")
{
    const TopInterval interval = top_fixture::interval();
    CHECK(names(interval, {TopSort::kTime, false, "o"}) ==
          std::vector<std::string>{"many-short", "some", "few-long"});
    CHECK(names(interval, {TopSort::kTime, false, "-l"}) == std::vector<std::string>{"few-long"});
    CHECK(names(interval, {TopSort::kTime, false, "absent"}).empty());
}

TEST_CASE("the probes' own time is that of all pairs, also of slices without values",
          "[nsdump][top]")
{
    TopInterval interval = top_fixture::interval();
    interval.live.pair_ticks = 40;
    interval.live.report.slices[0].migrated = 90;
    CHECK(*interval.pair_ns() == 20);
    CHECK(*interval.probes_share() == Approx((10 + 4000 + 100 + 90) * 20 / 2e9));
}

TEST_CASE("losses are shown by their cause and per second", "[nsdump][top]")
{
    TopInterval interval = top_fixture::interval();
    interval.lost[NSLICE_LOST_FULL] = 500;
    interval.lost[NSLICE_LOST_BUSY] = 2;
    const std::string text = nsdump::top_table(interval, {}, {});
    CHECK(text.find("lost/s 251 (full 250, busy 1)") != std::string::npos);
    CHECK(text.find("records/s 1000 k") != std::string::npos);
}

TEST_CASE("a table is cut to its rows and columns", "[nsdump][top]")
{
    TopInterval interval = top_fixture::interval();
    interval.live.report.slices[0].name = std::string(200, 'x');
    const auto rows = nsdump::rows_of(interval, {});
    const std::string text = nsdump::top_table(interval, rows, {}, {2, 40});
    size_t lines = 0;
    for (size_t begin = 0; begin < text.size(); ++lines) {
        const size_t end = text.find('\n', begin);
        CHECK(end - begin <= 40 + 1); // the sign of the intervals has two bytes
        begin = end + 1;
    }
    CHECK(lines == nsdump::kTopHeadLines + 2);
}

TEST_CASE("a line of JSON has every slice and every loss", "[nsdump][top]")
{
    TopInterval interval = top_fixture::interval();
    interval.lost[NSLICE_LOST_FULL] = 5;
    interval.live.report.slices[0].values.push_back(top_fixture::field("instructions", 7, 10));
    interval.live.report.slices[1].name = "quote\" and \x1b";
    const std::string line = nsdump::top_json(interval, nsdump::rows_of(interval, {}));
    CHECK(line.find('\n') == line.size() - 1);
    const auto json = nlohmann::json::parse(line);
    CHECK(json["schema"] == "netslice-top-1");
    CHECK(json["lost"]["full"] == 5);
    CHECK(json["slices"].size() == 3);
    CHECK(json["slices"][0]["name"] == "quote\" and \x1b");
    CHECK(json["slices"][0]["ns"]["mean"] == 50);
    CHECK(json["slices"][2]["counters"]["instructions"]["total"] == 70);
    CHECK(json["program_ended"] == false);
}
