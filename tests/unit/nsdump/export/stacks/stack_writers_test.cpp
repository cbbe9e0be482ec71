// SPDX-License-Identifier: MIT
#include "export/stacks/stack_writers.hpp"

#include <nlohmann/json.hpp>

#include "stacks_support.hpp"
#include "support/catch.hpp"

using Catch::Matchers::Contains;
using test_support::calibrated_trace;
using test_support::stacks_of;
using test_support::TraceBuilder;

namespace
{
test_support::Stacks two_stacks(const std::string &outer_name, const std::string &inner_name)
{
    TraceBuilder trace = calibrated_trace();
    const auto outer = trace.site(outer_name), inner = trace.site(inner_name);
    trace.start(0, 1, outer, 100);
    trace.start(0, 1, inner, 110);
    trace.stop(0, 1, inner, 140);
    trace.stop(0, 1, outer, 200);
    return stacks_of(trace);
}
} // namespace

TEST_CASE("what separates folded frames is replaced in names", "[nsdump][stacks]")
{
    CHECK(two_stacks("a;b c", "d\ne").folded == "a:b c 67\na:b c;d\\x0ae 28\n");
}

TEST_CASE("a negative self value is written as 0 and counted", "[nsdump][stacks]")
{
    TraceBuilder trace = calibrated_trace();
    const auto tiny = trace.site("tiny");
    trace.start(0, 1, tiny, 100);
    trace.stop(0, 1, tiny, 101); // net 1 - 2
    const auto stacks = stacks_of(trace);
    CHECK(stacks.folded == "tiny 0\n");
    CHECK(stacks.frames.negative == 1);
    CHECK(stacks.frames.negative_sum == -1);
    CHECK_THAT(stacks.graph, Contains("No slice has a value above 0"));
}

TEST_CASE("a speedscope profile has a sample and a weight for each stack", "[nsdump][stacks]")
{
    const auto file = nlohmann::json::parse(two_stacks("outer", "in\"ner").speedscope);
    const auto &profile = file["profiles"][0];
    CHECK(file["shared"]["frames"][0]["name"] == "outer");
    CHECK(file["shared"]["frames"][1]["name"] == "in\"ner");
    CHECK(file["shared"]["frames"][1]["file"] == "app.c");
    CHECK(profile["type"] == "sampled");
    CHECK(profile["samples"] == nlohmann::json::parse("[[0],[0,1]]"));
    CHECK(profile["weights"] == nlohmann::json::parse("[67.0,28.0]"));
    CHECK(profile["endValue"] == 95.0);
}

TEST_CASE("a frame of the flame graph has its net value, share, slices and raw value",
          "[nsdump][stacks]")
{
    const std::string graph = two_stacks("outer", "<in&ner>").graph;
    CHECK_THAT(graph, Contains("<title>outer: net 95 ticks (100.00 %), itself 67 ticks; 1 slice, "
                               "raw 100 ticks</title>"));
    CHECK_THAT(graph, Contains("data-n=\"&lt;in&amp;ner&gt;\" data-x=\"0.00000000\" "
                               "data-w=\"0.29473684\" data-d=\"2\""));
    CHECK_THAT(graph, !Contains("<in&"));
    CHECK_THAT(graph, !Contains("$frames") && !Contains("$height") && !Contains("$title"));
}

TEST_CASE("a name has the same colour in every graph", "[nsdump][stacks]")
{
    const auto colour_of = [](const std::string &graph, const std::string &name) {
        const size_t frame = graph.find("data-n=\"" + name + "\"");
        const size_t fill = graph.find("fill=\"", frame);
        return graph.substr(fill, 14);
    };
    const std::string one = two_stacks("parse", "send").graph,
                      two = two_stacks("receive", "parse").graph;
    CHECK(colour_of(one, "parse") == colour_of(two, "parse"));
    CHECK(colour_of(one, "parse") != colour_of(one, "send"));
}

TEST_CASE("frames too narrow to be seen are left out and counted", "[nsdump][stacks]")
{
    TraceBuilder trace = calibrated_trace();
    const auto wide = trace.site("wide"), narrow = trace.site("narrow");
    trace.start(0, 1, wide, 100);
    trace.stop(0, 1, wide, 900'100);
    trace.start(0, 1, narrow, 950'000);
    trace.stop(0, 1, narrow, 950'012);
    const auto stacks = stacks_of(trace);
    CHECK(stacks.omitted == 1);
    CHECK_THAT(stacks.graph, !Contains("data-n=\"narrow\""));
    CHECK(stacks.weights.at("narrow") == 10);
}
