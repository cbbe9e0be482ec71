// SPDX-License-Identifier: MIT
#include "qos/output/output.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "simulated_link.hpp"
#include "support/catch.hpp"

namespace
{
using namespace qos_test;

qos::Figures figures()
{
    SimulatedLink link;
    for (int i = 1; i <= 100; ++i)
        link.forward(i * 10 * kMs, i % 10 == 0 ? -1 : 3 * kMs);
    qos::AnalyseOptions options;
    options.interval_ns = kSecond;
    return qos::analyse(link.seen(2 * kSecond), options);
}
} // namespace

TEST_CASE("JSON has the figures of paths, flows and intervals", "[mapi-core][qos]")
{
    const auto json = nlohmann::json::parse(qos::json_of(figures(), 0));
    const auto &path = json["paths"][0];
    CHECK(path["lost"] == 10);
    CHECK(path["delay_ms"]["p99"] == 3.0);
    CHECK(path["flows"][0]["flow"] == "17 1.0.0.0:9>2.0.0.0:9");
    CHECK(path["intervals"].size() == 2);
    CHECK(json["paths"][1]["delay_ms"].is_null());
    CHECK(json["points"][1]["name"] == "b");
}

TEST_CASE("points without common time are said to have none", "[mapi-core][qos]")
{
    qos::Figures apart = figures();
    CHECK(qos::text_of(apart, 0).find("both from ") != std::string::npos);
    CHECK(apart.notes().empty());
    std::swap(apart.common.first_ns, apart.common.last_ns);
    CHECK(qos::text_of(apart, 0).find("both from ") == std::string::npos);
    CHECK(qos::text_of(apart, 0).find("no common time; 100 % of") != std::string::npos);
    CHECK(nlohmann::json::parse(qos::json_of(apart, 0))["common"].is_null());
    CHECK(apart.notes() == std::vector<std::string>{"the points have no common time"});
}

TEST_CASE("a limit of flows is of those that are printed", "[mapi-core][qos]")
{
    qos::Figures many = figures();
    many.forward.flows.resize(3, many.forward.flows.front());
    const auto json = nlohmann::json::parse(qos::json_of(many, 2));
    CHECK(json["paths"][0]["flows"].size() == 2);
    CHECK(json["paths"][0]["flow_count"] == 3);
    CHECK(qos::text_of(many, 2).find("1 flow more") != std::string::npos);
}

TEST_CASE("each row of CSV has the columns of the head", "[mapi-core][qos]")
{
    const std::string csv = qos::csv_of(figures(), 0);
    const std::string head = csv.substr(0, csv.find('\n'));
    const auto commas = std::count(head.begin(), head.end(), ',');
    const auto lines = std::count(csv.begin(), csv.end(), '\n');
    CHECK(std::count(csv.begin(), csv.end(), ',') == commas * lines);
}

TEST_CASE("names in metrics are escaped", "[mapi-core][qos]")
{
    qos::Figures named = figures();
    named.forward.from = "x\"y\\z";
    const std::string metrics = qos::prometheus_of(named, 0);
    CHECK(metrics.find("{from=\"x\\\"y\\\\z\",to=\"b\",flow=\"\"} 10\n") != std::string::npos);
}
