// SPDX-License-Identifier: MIT
#include "analyse/event_selection.hpp"

#include <string>
#include <vector>

#include "nsdump_support.hpp"
#include "support/catch.hpp"

using namespace test_support;

namespace
{
// Two units on one thread, each with slices a and b; c lies between them.
std::string trace_bytes()
{
    TraceBuilder trace;
    trace.info(plain_info());
    const auto unit = trace.site("unit", NSLICE_KIND_INIT);
    const auto a = trace.site("a"), b = trace.site("b"), c = trace.site("c");
    const auto slice = [&](uint16_t id, uint64_t ticks) {
        trace.start(0, 1, id, ticks);
        trace.stop(0, 1, id, ticks + 5);
    };
    for (const uint64_t number : {7, 8}) {
        trace.init(0, 1, unit, number * 1000, number, 1, 64);
        slice(a, number * 1000 + 10);
        slice(b, number * 1000 + 20);
        trace.exit(0, 1, unit, number * 1000 + 30);
        slice(c, number * 1000 + 40);
    }
    trace.footer(NSLICE_END_CLOSED, 9000, 100);
    return trace.bytes();
}

// Names of the events that are selected.
std::vector<std::string> selected(const std::string &bytes, std::optional<uint64_t> unit,
                                  const std::string &name)
{
    nsdump::TraceFile trace(source_of(bytes));
    nsdump::EventSelection selection(trace.names(), unit, name);
    nsdump::Merger merger(trace);
    std::vector<std::string> found;
    for (nsdump::Run run; merger.next(run);)
        for (const nsdump::Event &event : run.events)
            if (const auto seen = selection.see(run, event); seen.is_selected)
                found.push_back(trace.names()[seen.name].text);
    return found;
}

std::vector<std::string> selected(std::optional<uint64_t> unit, const std::string &name)
{
    return selected(trace_bytes(), unit, name);
}
} // namespace

TEST_CASE("events are selected by their unit, their name, or both", "[nsdump][selection]")
{
    using Names = std::vector<std::string>;
    CHECK(selected({}, "").size() == 16);
    CHECK(selected(7, "") == Names{"unit", "a", "a", "b", "b", "unit"});
    CHECK(selected({}, "a") == Names{"a", "a", "a", "a"});
    CHECK(selected(8, "b") == Names{"b", "b"});
    CHECK(selected(8, "c").empty());
    CHECK(selected(9, "").empty());
}

TEST_CASE("slices are selected by their unit, their name, or both", "[nsdump][selection]")
{
    nsdump::TraceFile trace(source_of(trace_bytes()));
    const nsdump::NameId a = trace.names().of_slice(2), b = trace.names().of_slice(3);
    REQUIRE(trace.names()[a].text == "a");
    nsdump::Unit unit{};
    unit.number = 7;
    const nsdump::EventSelection both(trace.names(), 7, "a");
    CHECK(both.has(a, &unit));
    CHECK_FALSE(both.has(a, nullptr));
    CHECK_FALSE(both.has(b, &unit));
    unit.number = 8;
    CHECK_FALSE(both.has(a, &unit));
    const nsdump::EventSelection all(trace.names(), {}, "");
    CHECK(all.has(b, nullptr));
    CHECK_FALSE(all.is_by_name());
}

TEST_CASE("what follows a pause is in no unit until the next one begins", "[nsdump][selection]")
{
    TraceBuilder builder;
    builder.info(plain_info());
    const auto unit = builder.site("unit", NSLICE_KIND_INIT), a = builder.site("a");
    builder.init(0, 1, unit, 100, 7, 1, 64);
    builder.start(0, 1, a, 110);
    builder.leave_out(3); // the rest of unit 7, and the INIT of 8
    builder.start(0, 1, a, 210);
    builder.exit(0, 1, unit, 220);
    CHECK(selected(builder.bytes(), 7, "") == std::vector<std::string>{"unit", "a"});
}
