// SPDX-License-Identifier: MIT
#include "cases/kernel_costs.hpp"

#include <random>

#include "cases/cases.hpp"
#include "report/paper.hpp"
#include "support/catch.hpp"

using namespace calibrate;

TEST_CASE("lines from nsmod become figures in ticks, or the reason why there is none",
          "[calibrate][kernel]")
{
    const KernelCosts all = parse_kernel_costs(
        "rdtsc\t25600\t512\t30\nrdpmc\tunavailable\tno PMU here\nidle MARK\t-51\t0\t30\n");
    CHECK(all.bad_lines == 0);
    REQUIRE(all.costs.size() == 3);
    CHECK(all.costs[0].name == "rdtsc");
    CHECK(all.costs[0].ticks->mean == 25);
    CHECK(all.costs[0].ticks->ci95 == 0.5);
    CHECK(all.costs[0].ticks->batches == 30);
    CHECK_FALSE(all.costs[1].ticks);
    CHECK(all.costs[1].reason == "no PMU here");
    CHECK(all.costs[2].ticks->mean < 0);
}

TEST_CASE("a malformed line gives no figure, is counted, and does not affect the others",
          "[calibrate][kernel]")
{
    for (const std::string bad : {"",
                                  "rdtsc",
                                  "rdtsc\t",
                                  "\t1\t1\t30",
                                  "rdtsc\t1\t1",
                                  "rdtsc\t1\t1\t30\t",
                                  "rdtsc\t1\t1\t30\t5",
                                  "rdtsc\t 1\t1\t30",
                                  "rdtsc\t1.5\t1\t30",
                                  "rdtsc\t+1\t1\t30",
                                  "rdtsc\t1\t-1\t30",
                                  "rdtsc\t1\t1\t1",
                                  "rdtsc\t1\t1\t-30",
                                  "rdtsc\t0x10\t1\t30",
                                  "rdtsc\t9223372036854775807\t1\t30",
                                  "rdtsc\t99999999999999999999999\t1\t30",
                                  "rdtsc\tnan\t1\t30",
                                  "rdtsc\tunavailable",
                                  "rdtsc\tunavailable\t",
                                  "rdtsc\tunavailable\tx\ty",
                                  "rd\x1btsc\t1\t1\t30",
                                  "rdtsc\tunavailable\t\x1b[31mred",
                                  "rd\xfftsc\t1\t1\t30",
                                  "a name that is longer than any name of a figure\t1\t1\t30",
                                  "first\t2\t2\t30"}) {
        INFO(bad);
        const KernelCosts all =
            parse_kernel_costs("first\t1024\t1\t30\n" + bad + "\nlast\t2048\t1\t30\n");
        CHECK(all.bad_lines == 1);
        REQUIRE(all.costs.size() == 2);
        CHECK(all.costs[0].ticks->mean == 1);
        CHECK(all.costs[1].ticks->mean == 2);
    }
    CHECK(parse_kernel_costs("rdtsc\tunavailable\t" + std::string(5000, 'x') + "\n").bad_lines ==
          1);
    CHECK(parse_kernel_costs(std::string("rd\0sc\t1\t1\t30\n", 13)).bad_lines == 1);
}

TEST_CASE("a truncated answer does not contribute its last number", "[calibrate][kernel]")
{
    const KernelCosts all = parse_kernel_costs("rdtsc\t1024\t1\t30\ncpuid\t1024\t1\t3");
    CHECK(all.costs.size() == 1);
    CHECK(all.bad_lines == 1);
    CHECK(parse_kernel_costs("").costs.empty());
    CHECK(parse_kernel_costs("").bad_lines == 0);
}

TEST_CASE("lines beyond the number of figures are not kept", "[calibrate][kernel]")
{
    std::string text;
    for (int i = 0; i < 5000; ++i)
        text += "name " + std::to_string(i) + "\t1\t1\t30\n";
    const KernelCosts all = parse_kernel_costs(text);
    CHECK(all.costs.size() == 256);
    CHECK(all.bad_lines == 5000 - 256);
}

TEST_CASE("arbitrary bytes are parsed safely", "[calibrate][kernel]")
{
    std::mt19937 random(1);
    const std::string likely = "\t\t\n\n0123456789-unavailable rdtsc";
    for (int round = 0; round < 20000; ++round) {
        std::string text(random() % 200, '\0');
        for (char &c : text)
            c = random() % 8 ? likely[random() % likely.size()] : char(random());
        const KernelCosts all = parse_kernel_costs(text);
        REQUIRE(all.costs.size() + all.bad_lines <= text.size() + 1);
        for (const KernelCost &cost : all.costs)
            REQUIRE((cost.ticks.has_value() != !cost.reason.empty()));
    }
}

TEST_CASE("the paper's tables have the kernel's rows where nsmod measured, and a reason elsewhere",
          "[calibrate][kernel][paper]")
{
    static constexpr InstructionVariant kVariants[] = {
        {"rdtsc", nullptr, nullptr, nullptr, 69, nullptr, nullptr},
        {"rdpmc", nullptr, nullptr, nullptr, 82, nullptr, nullptr},
        {"wrmsr", nullptr, needs_nsmod, nullptr, 220, nullptr, nullptr},
    };
    Results results;
    results.lacks(kKernel, "nsmod is not loaded");
    results.lacks("wrmsr", needs_nsmod());
    Paper paper = paper_of(results, kVariants, false);
    CHECK(paper.why_no_kernel == "nsmod is not loaded");
    CHECK(paper.instructions[2].note == needs_nsmod());
    CHECK(paper.kernel_instructions.empty());
    CHECK(paper.kernel_macros.empty());

    results = {};
    add_kernel_costs(
        parse_kernel_costs("rdtsc\t25600\t0\t30\nrdpmc\tunavailable\tno "
                           "PMU\nSTART+STOP\t61440\t0\t30\nidle START+STOP\t2048\t0\t30\n"
                           "wrmsr\t512000\t0\t30\n"
                           "INIT\tunavailable\tsomebody records\n"),
        results);
    paper = paper_of(results, kVariants, false);
    CHECK_FALSE(paper.instructions[0].ticks); // a row of the program has the program's figure
    CHECK(paper.instructions[2].ticks->mean ==
          500); // not measurable in a program: the kernel's figure
    CHECK(paper.instructions[2].note == "in the kernel");
    REQUIRE(paper.kernel_instructions.size() == 3);
    CHECK(paper.kernel_instructions[0].ticks->mean == 25);
    CHECK(paper.kernel_instructions[1].note == "no PMU");
    REQUIRE(paper.kernel_macros.size() ==
            1); // only the outer cost of the pair; nsmod does not measure the inner
    CHECK(std::string(paper.kernel_macros[0].macro->acronym) == "NSA");
    CHECK(paper.kernel_macros[0].recorded->mean == 60);
    CHECK(paper.kernel_macros[0].idle->mean == 2);
    CHECK(paper.why_no_kernel == "somebody records");
}
