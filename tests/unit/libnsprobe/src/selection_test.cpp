// SPDX-License-Identifier: MIT
// Which slices a session records: rules by name, from its start or changed while it runs.
#include "stepped.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <nsprobe/probe.h>

extern "C" {
#include "sites/selection.h"
#include "sites/sites.h"
}

using test_support::ProbeSession;
using test_support::require_accounted;

namespace
{
void one_unit()
{
    NET_SLICE_INIT(batch, 1, 64, 64 * 1500);
    NET_SLICE_START(filter_ports);
    NET_SLICE_START(filter_hosts);
    NET_SLICE_MARK(depth, 10);
    NET_SLICE_STOP(filter_hosts);
    NET_SLICE_STOP(filter_ports);
    NET_SLICE_START(publish);
    NET_SLICE_STOP(publish);
    NET_SLICE_EXIT(batch);
}

std::string kinds_of(const test_support::Trace &trace)
{
    std::string text;
    for (const auto &record : trace.records)
        text += "?+-mie"[record.kind] + trace.name(record) + ' ';
    return text;
}

std::string recorded_with(const std::string &rules)
{
    ProbeSession session("calibration=no slices=" + rules);
    one_unit();
    return kinds_of(session.close().trace);
}

void refuse(const char *rules, const std::string &words)
{
    INFO(rules);
    CHECK(nsp_selection_check(rules) == -EINVAL);
    CHECK_THAT(nsp_last_error(), Catch::Contains(words));
}
} // namespace

TEST_CASE("a name is selected by a pattern, or by no pattern at all, unless one excludes it",
          "[libnsprobe][selection]")
{
    CHECK(nsp_selection_has("", "filter"));
    CHECK(nsp_selection_has("filter", "filter"));
    CHECK_FALSE(nsp_selection_has("filter", "filters"));
    CHECK(nsp_selection_has("a,filter*", "filters"));
    CHECK(nsp_selection_has("[a-f]?lter", "filter"));
    CHECK(nsp_selection_has("!publish", "filter"));
    CHECK_FALSE(nsp_selection_has("!publish", "publish"));
    CHECK_FALSE(nsp_selection_has("!f*,filter", "filter"));
    CHECK_FALSE(nsp_selection_has("filter*,!filter_hosts", "publish"));
    CHECK(nsp_selection_has("filter*,!filter_hosts", "filter_ports"));
    CHECK_FALSE(nsp_selection_has("filter*,!filter_hosts", "filter_hosts"));
}

TEST_CASE("rules without a pattern where one is expected are rejected", "[libnsprobe][selection]")
{
    CHECK(nsp_selection_check("") == 0);
    CHECK(nsp_selection_check("a*,!b") == 0);
    refuse(",a", "empty pattern");
    refuse("a,,b", "empty pattern");
    refuse("a,!", "empty pattern");
    refuse("a,", "after the last comma");
    refuse(std::string(2000, 'a').c_str(), "longer than 1023");
}

TEST_CASE("a session records the slices and marks that its rules select, and all units",
          "[libnsprobe][selection]")
{
    CHECK(recorded_with("filter*") ==
          "ibatch +filter_ports +filter_hosts -filter_hosts -filter_ports ebatch ");
    CHECK(recorded_with("filter*,!*hosts") == "ibatch +filter_ports -filter_ports ebatch ");
    CHECK(recorded_with("!filter*") == "ibatch mdepth +publish -publish ebatch ");
    CHECK(recorded_with("none") == "ibatch ebatch ");
}

TEST_CASE("the rules of one session do not apply to the next", "[libnsprobe][selection]")
{
    CHECK(recorded_with("none") == "ibatch ebatch ");
    ProbeSession session;
    one_unit();
    require_accounted(session.close(), 9);
}

TEST_CASE("a slice that is created during a session obeys its rules", "[libnsprobe][selection]")
{
    ProbeSession session("calibration=no slices=good*");
    nsp_slice *const good = NET_SLICE_CREATE("good one");
    nsp_slice *const bad = NET_SLICE_CREATE("bad one");
    NET_SLICE_START_AT(good);
    NET_SLICE_START_AT(bad);
    NET_SLICE_STOP_AT(bad);
    NET_SLICE_STOP_AT(good);
    CHECK(kinds_of(session.close().trace) == "+good one -good one ");
}

TEST_CASE("rules can be replaced while a session runs", "[libnsprobe][selection]")
{
    ProbeSession session("calibration=no slices=none");
    one_unit();
    REQUIRE(nsp_sites_select("publish") == 0);
    one_unit();
    REQUIRE(nsp_sites_select("") == 0);
    one_unit();
    CHECK(nsp_sites_select("a,,b") == -EINVAL);
    const auto result = session.close();
    require_accounted(result, 2 + 4 + 9);
    CHECK(nsp_sites_select("publish") == -ENOENT);
}

#if defined(__x86_64__) // where source=step exists
TEST_CASE("a probe that is not selected adds one instruction to the program's",
          "[libnsprobe][selection][step]")
{
    ProbeSession session("counters=instructions source=step slices=outer");
    NET_SLICE_START(outer);
    NET_SLICE_START(off);
    NET_SLICE_STOP(off);
    NET_SLICE_STOP(outer);
    CHECK(nsp_sites_select("") == -ENOTSUP);
    CHECK(stepped::net_counts(session.close().trace) ==
          std::map<std::string, double>{{"outer", 2}});
}
#endif

TEST_CASE("patterns that match no name are reported with the first names",
          "[libnsprobe][selection]")
{
    const auto report = [](const char *rules, const std::vector<std::string> &texts) {
        std::vector<const char *> names;
        for (const std::string &text : texts)
            names.push_back(text.c_str());
        char *text = nullptr;
        size_t bytes = 0;
        FILE *const to = open_memstream(&text, &bytes);
        nsp_selection_report(to, "netslice: ", rules, names.data(), names.size());
        fclose(to);
        std::string copy(text, bytes);
        free(text);
        return copy;
    };
    CHECK(report("", {"a"}).empty());
    CHECK(report("a*,!b?", {"a", "bc"}).empty());
    CHECK(report("kernel:irq,!kernel:*", {"a"}).empty());
    CHECK(report("x", {}) == "netslice: slices: no slice or mark matches \"x\"; available: none\n");
    CHECK(report("a,!x,y", {"a", "b"}) ==
          "netslice: slices: no slice or mark matches \"!x\"; available: a, b\n"
          "netslice: slices: no slice or mark matches \"y\"; available: a, b\n");
    const std::string many = report("x", std::vector<std::string>(100, "name"));
    CHECK_THAT(many, Catch::EndsWith(", name and 80 more\n"));
    CHECK(std::count(many.begin(), many.end(), ',') == 19);
}
