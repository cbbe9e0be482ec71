// SPDX-License-Identifier: MIT
#include "report/paper.hpp"

#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "analyse/correct/calibration.hpp"
#include "report/report.hpp"
#include "support/catch.hpp"

using namespace calibrate;

namespace
{
Estimate exactly(double mean)
{
    return {mean, 0.5, 0, 50, 20};
}

std::string always_missing()
{
    return "not permitted";
}

const InstructionVariant kVariants[] = {
    {"slow", nullptr, nullptr, nullptr, 100, "plain", "exits"},
    {"barred", nullptr, always_missing, nullptr, 180, nullptr, nullptr},
    {"read", nullptr, nullptr, nullptr, {}, nullptr, nullptr},
    {"forgotten", nullptr, nullptr, nullptr, {}, nullptr, nullptr},
};

// A 2 GHz clock; probes in mode ordered cost twice as much as in mode fast.
struct Made {
    Environment environment;
    Plan plan = make_plan(500, false, "");
    Run run;
    std::vector<Warning> warnings = {{"a warning", false}, {"worse", true}};

    Made()
    {
        plan.does_paper = true;
        environment.machine = {"x86_64", "tsc", "tsc", "Some CPU", "none", 1};
        run.facts.hz = 2e9;
        Results &results = run.results;
        results.instruction("slow").add(exactly(400));
        results.clock_read("read").add(exactly(20));
        results.lacks("barred", "not permitted");
        for (const char *ring : {"rseq", "atomic"}) {
            add_macros({"fast", ring, "none"}, 1);
            add_macros({"ordered", ring, "none"}, 2);
        }
    }

    void add_macros(const Setting &setting, double times)
    {
        ProbeRow &pair = run.results.probe("START+STOP", setting);
        pair.inner_alone.add(exactly(30 * times));
        pair.outer_alone.add(exactly(60.6 * times));
        run.results.probe("INIT", setting).outer_alone.add(exactly(34.8 * times));
        run.results.probe("EXIT", setting).outer_alone.add(exactly(27 * times));
        run.results.half("START", setting).outer_alone.add(exactly(28 * times));
        run.results.half("STOP", setting).outer_alone.add(exactly(29 * times));
    }

    void count(ProbeRow &row, double inner, double outer)
    {
        row.counter_costs.push_back({"instructions", {}, {}});
        if (inner > 0)
            row.counter_costs.back().inner.add(exactly(inner));
        row.counter_costs.back().outer.add(exactly(outer));
    }

    void count_events()
    {
        const Setting setting = {"fast", "rseq", "step"};
        count(run.results.probe("START+STOP", setting), 17, 35);
        count(run.results.probe("INIT", setting), 0, 20);
        count(run.results.half("START", setting), 0, 19);
        count(run.results.half("STOP", setting), 0, 16);
    }

    Report report() const { return {environment, plan, run, warnings}; }
    Paper paper(bool is_virtual = false) const
    {
        return paper_of(run.results, kVariants, is_virtual);
    }
};

// The line that begins with these words, with runs of spaces removed.
std::string line_of(const std::string &text, const std::string &begin)
{
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string plain;
        for (std::string word; words >> word;)
            plain += (plain.empty() ? "" : " ") + word;
        if (plain.starts_with(begin))
            return plain;
    }
    return "no line begins with " + begin;
}

// By this machine.  A few batches are enough, unless others disturb most of them: then the longer
// loop may have taken less time than the shorter one, and all is measured again.
Paper measured_paper()
{
    Paper paper;
    for (int attempt = 0; attempt < 10; ++attempt) {
        Affinity affinity;
        Results results;
        Pass pass;
        pass.batches = 5;
        pass.affinity = &affinity;
        run_clock_case(pass, results);
        run_instruction_case(pass, results);
        paper = paper_of(results, instruction_variants(), false);
        if (std::all_of(
                paper.instructions.begin(), paper.instructions.end(),
                [](const InstructionLine &line) { return !line.ticks || line.ticks->mean > 0; }))
            break;
    }
    return paper;
}
} // namespace

TEST_CASE("an instruction has its figure or the reason why there is none", "[calibrate][paper]")
{
    const auto lines = Made().paper().instructions;
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].ticks->mean == 400);
    CHECK(lines[0].ns_2001 == 100);
    CHECK(lines[0].note == "plain");
    CHECK_FALSE(lines[1].ticks);
    CHECK(lines[1].note == "not permitted");
    CHECK(lines[2].ticks->mean == 20); // taken from the clock reads
    CHECK_FALSE(lines[2].ns_2001);
    CHECK_FALSE(lines[3].ticks);
    CHECK(lines[3].note == "not measured");
}

TEST_CASE("a note for virtual machines appears only in virtual machines", "[calibrate][paper]")
{
    CHECK(Made().paper(true).instructions[0].note == "exits");
    CHECK(Made().paper(false).instructions[0].note == "plain");
}

TEST_CASE("this architecture's table lists its privileged instructions as not measurable",
          "[calibrate][paper]")
{
    const Paper paper = measured_paper();
    REQUIRE(paper.instructions.size() >= 5);
    CHECK(std::count_if(paper.instructions.begin(), paper.instructions.end(),
                        [](const InstructionLine &line) { return line.note == needs_nsmod(); }) ==
          2);
    for (const InstructionLine &line : paper.instructions) {
        INFO(line.name << ": " << line.note);
        CHECK(line.note != "not measured");
        CHECK((line.ticks || !line.note.empty()));
        if (line.ticks)
            CHECK(line.ticks->mean > 0);
    }
}

TEST_CASE("the table of macros has time, ticks and the ratio to 2001 in both clock modes",
          "[calibrate][paper]")
{
    const std::string text = as_paper_text(Made().report());
    CHECK(line_of(text, "NSI") ==
          "NSI NET_SLICE_INIT 87 17.40 0.25 34.80 0.200 34.80 0.25 69.60 0.400");
    CHECK(line_of(text, "NSS") ==
          "NSS NET_SLICE_START 132 14.00 0.25 28.00 0.106 28.00 0.25 56.00 0.212");
    CHECK(line_of(text, "NST").starts_with("NST NET_SLICE_STOP 154 14.50 0.25 29.00 "));
    CHECK(line_of(text, "NSE").starts_with("NSE NET_SLICE_EXIT 904 13.50 0.25 27.00 0.015 "));
    CHECK(line_of(text, "NSO") ==
          "NSO empty slice 150 15.00 0.25 30.00 0.100 30.00 0.25 60.00 0.200");
    CHECK(line_of(text, "NSA") ==
          "NSA START and STOP 303 30.30 0.25 60.60 0.100 60.60 0.25 121.20 0.200");
    CHECK(text.find("ring rseq") != std::string::npos);
    CHECK(text.find("back to back: NSO: what an empty slice reads") != std::string::npos);
    CHECK(text.find("inner:") == std::string::npos); // has another meaning in the other tables
}

TEST_CASE("a macro without a figure keeps its row and says so", "[calibrate][paper]")
{
    Made made;
    made.run.results.halves.clear();
    CHECK(line_of(as_paper_text(made.report()), "NSS") ==
          "NSS NET_SLICE_START 132 - - - - - - - - -: not in the calibration");
}

TEST_CASE("events are reported for each macro, and those not counted are left blank",
          "[calibrate][paper]")
{
    Made made;
    made.count_events();
    const std::string text = as_paper_text(made.report());
    CHECK(line_of(text, "counter") == "counter source clock NSI NSS NST NSE NSO NSA");
    CHECK(line_of(text, "instructions step") ==
          "instructions step fast 20.0 19.0 16.0 - 17.0 35.0");
    CHECK(line_of(text, "instructions 2001") == "instructions 2001, C0H - - - - 77 - -");
    CHECK(text.find("step: instructions of a macro counted by a stepped slice") !=
          std::string::npos);
}

TEST_CASE("without counters, the section of events gives the reason", "[calibrate][paper]")
{
    Made made;
    CHECK(line_of(as_paper_text(made.report()), "unavailable:") ==
          "unavailable: no counter source was measured");
    made.run.results.lacks("counters from rdpmc", "no PMU");
    made.run.results.lacks("counters from step", "not here");
    CHECK(line_of(as_paper_text(made.report()), "unavailable:") ==
          "unavailable: rdpmc: no PMU; step: not here");
}

TEST_CASE("warnings appear below the paper's tables as below the others", "[calibrate][paper]")
{
    const std::string text = as_paper_text(Made().report());
    CHECK(line_of(text, "warning:") == "warning: a warning");
    CHECK(line_of(text, "NOT TO BE TRUSTED:") == "NOT TO BE TRUSTED: worse");
    CHECK(line_of(text, "2001 Liu").find("NetSlice") != std::string::npos);
}

TEST_CASE("calibration.json has the paper's tables on request, and nsdump still reads it",
          "[calibrate][paper]")
{
    Made made;
    made.count_events();
    const auto json = nlohmann::json::parse(as_json(made.report()));
    const auto &paper = json["paper"];
    CHECK(paper["ring"] == "rseq");
    CHECK(paper["macros"].size() == 6);
    CHECK(paper["macros"][5]["fast"]["ns"].get<double>() == Approx(30.3));
    CHECK(paper["macros"][5]["ordered"]["ratio_to_2001"].get<double>() == Approx(0.2));
    CHECK(paper["events"][0]["NSA"]["count"] == 35);
    CHECK(paper["events"][0]["NSE"].is_null());
    CHECK(paper["events_2001"][0]["count"] == 77);
    CHECK(paper["why_no_events"].is_null());
    const auto read = nsdump::parse_calibration(as_json(made.report()), "calibration.json");
    CHECK(std::none_of(read.probes.begin(), read.probes.end(),
                       [](const nsdump::ProbeCost &probe) { return probe.macro == "START"; }));
    made.plan.does_paper = false;
    CHECK_FALSE(nlohmann::json::parse(as_json(made.report())).contains("paper"));
}
