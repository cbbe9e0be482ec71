// SPDX-License-Identifier: MIT
// report: counts and times -> lines.
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include "report.hpp"

using namespace mapi_gen;

TEST_CASE("the line of a second has the rates of that second and the sums", "[mapi_gen][report]")
{
    CHECK(second_line({.packets = 1000, .bytes = 64000},
                      {.packets = 3000, .bytes = 192000, .refused = 7}, 2.0,
                      3.0) == "3.0 s: 1000 packets/s, 0.512 Mbit/s, sent 3000, refused 7");
    CHECK(second_line({}, {.behind = 4}, 1.0, 1.0) ==
          "1.0 s: 0 packets/s, 0.000 Mbit/s, sent 0, refused 0, behind 4");
}

TEST_CASE("the last line has the sums, as text or JSON", "[mapi_gen][report]")
{
    Options options;
    options.interface = "eth1";
    const Outcome outcome = {"xdp", {.packets = 100, .bytes = 6400, .refused = 2}, 0.5, 3};
    CHECK(last_line(outcome, options, {}) ==
          "100 packets, 6400 bytes, 2 refused, 0.500000 s, 200 packets/s, 0.102 Mbit/s\n");
    options.format = "json";
    const auto line = nlohmann::json::parse(last_line(outcome, options, {}));
    CHECK(line["schema"] == "netslice-mapi-gen-1");
    CHECK(line["packets_per_s"] == 200);
    CHECK(line["dropped"] == 3);
    CHECK(line["behind"] == 0);
}

TEST_CASE("a run without time has no rate", "[mapi_gen][report]")
{
    Options options;
    options.format = "json";
    const Outcome outcome = {"xdp", {.packets = 1, .bytes = 64}, 0, 0};
    CHECK(nlohmann::json::parse(last_line(outcome, options, {}))["packets_per_s"] == 0);
}
