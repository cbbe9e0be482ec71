// SPDX-License-Identifier: MIT
// rule_files: directives, includes and rules of files.
#include "support/catch.hpp"

#include <fstream>

#include "snort2sids/source/rule_files.hpp"
#include "support/temp_dir.hpp"

using namespace snort2sids;

namespace
{
struct Reading {
    std::vector<std::string> rules; // action, and the text of the rule with its variables replaced
    std::vector<std::string> problems;
    std::map<std::string, uint64_t> skipped;
};

class RuleFolder
{
public:
    std::string write(const std::string &name, const std::string &text)
    {
        std::string path = (folder_ / name).string();
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }

    Reading read(const std::string &text, bool takes_commented = false)
    {
        Reading reading;
        Variables variables;
        const std::function<void(const RuleLine &)> take = [&](const RuleLine &rule) {
            reading.rules.push_back(rule.action + "|" +
                                    variables.expand(rule.line.text.substr(rule.start)));
        };
        RuleFiles files(variables, takes_commented, take);
        files.read(write("first.rules", text));
        for (const auto &problem : files.problems())
            reading.problems.push_back(
                problem.place.name().substr(problem.place.name().rfind('/') + 1) + " " +
                problem.what);
        reading.skipped = files.skipped();
        return reading;
    }

private:
    test_support::TempDir folder_;
};
} // namespace

TEST_CASE("rules have the variables of their place", "[snort2sids][rule_files]")
{
    const Reading reading = RuleFolder().read("var A 1\nalert $A\nportvar A [2,3]\nlog $A\n"
                                              "ipvar\tB\t!$A\ndrop $B\n");
    CHECK(reading.rules ==
          std::vector<std::string>{"alert|alert 1", "log|log [2,3]", "drop|drop ![2,3]"});
    CHECK(reading.problems.empty());
}

TEST_CASE("directives that make no rule are counted", "[snort2sids][rule_files]")
{
    const Reading reading = RuleFolder().read(
        "config x: y\npreprocessor stream5_tcp: a, \\\n  b\noutput z\nconfig w\n");
    CHECK(reading.skipped ==
          std::map<std::string, uint64_t>{{"config", 2}, {"output", 1}, {"preprocessor", 1}});
}

TEST_CASE("includes are read where they stand, beside the file that names them",
          "[snort2sids][rule_files]")
{
    RuleFolder folder;
    folder.write("second.rules", "alert two\ninclude third.rules\n");
    folder.write("third.rules", "alert three");
    const Reading reading =
        folder.read("var P .\nalert one\ninclude $P/second.rules\nalert four\n");
    CHECK(reading.rules == std::vector<std::string>{"alert|alert one", "alert|alert two",
                                                    "alert|alert three", "alert|alert four"});
}

TEST_CASE("an include that is missing or endless is an error with its place",
          "[snort2sids][rule_files]")
{
    const Reading reading =
        RuleFolder().read("include none.rules\n include ./first.rules\ninclude $X\nalert x\n");
    REQUIRE(reading.problems.size() == 3);
    CHECK(reading.problems[0].starts_with("first.rules:1:9 "));
    CHECK(reading.problems[0].find("none.rules: No such file") != std::string::npos);
    CHECK(reading.problems[1].starts_with("first.rules:2:10 the file includes itself"));
    CHECK(reading.problems[2].starts_with("first.rules:3:9 variable X"));
    CHECK(reading.rules.size() == 1);
}

TEST_CASE("a line that is neither rule nor directive is an error", "[snort2sids][rule_files]")
{
    const Reading reading =
        RuleFolder().read("allert tcp\nvar 1-2 3\nvar A\n\x7f"
                          "ELF\nruletype x { output }\nruletype y { type alert\n");
    REQUIRE(reading.problems.size() == 6);
    CHECK(reading.problems[0] ==
          "first.rules:1:1 \"allert\" begins neither a rule nor a directive of Snort 2");
    CHECK(reading.problems[1].starts_with("first.rules:2:5 "));
    CHECK(reading.problems[2] == "first.rules:3:6 the value is missing");
    CHECK(reading.problems[3].starts_with("first.rules:4:1 \"\\x7fELF\""));
    CHECK(reading.problems[4].starts_with("first.rules:5:10 "));
    CHECK(reading.problems[5].starts_with("first.rules:6:10 "));
}

TEST_CASE("user-defined actions are what their type is", "[snort2sids][rule_files]")
{
    const Reading reading = RuleFolder().read(
        "ruletype suspicious\n{\n  type log\n  output log_tcpdump: x\n}\nsuspicious tcp\n");
    CHECK(reading.rules == std::vector<std::string>{"log|suspicious tcp"});
    CHECK(reading.problems.empty());
}

TEST_CASE("rules that are commented out are read on request, and other comments never",
          "[snort2sids][rule_files]")
{
    const std::string text = "# alert when this happens\n#alert tcp x\n# # log ip y\n#x\nalert z\n";
    CHECK(RuleFolder().read(text).rules == std::vector<std::string>{"alert|alert z"});
    CHECK(RuleFolder().read(text, true).rules ==
          std::vector<std::string>{"alert|alert tcp x", "log|log ip y", "alert|alert z"});
}

TEST_CASE("words are read in any case, and comments after values and after ; are none of them",
          "[snort2sids][rule_files]")
{
    const Reading reading =
        RuleFolder().read("VAR A [1, 2] # three\nALERT tcp $A\n; alert tcp x\n  ;; y\n");
    CHECK(reading.rules == std::vector<std::string>{"alert|ALERT tcp [1, 2]"});
    CHECK(reading.problems.empty());
}

TEST_CASE("reading ends after a thousand different errors", "[snort2sids][rule_files]")
{
    std::string equal, different;
    for (int i = 0; i < 5000; ++i) {
        equal += "x\n";
        different += "x" + std::to_string(i) + "\n";
    }
    CHECK(RuleFolder().read(equal).problems.size() == 1);
    CHECK(RuleFolder().read(different).problems.size() == 1000);
}

TEST_CASE("files that include others twice end at a limit", "[snort2sids][rule_files]")
{
    RuleFolder folder;
    for (int i = 0; i < 30; ++i)
        folder.write(std::to_string(i), "include " + std::to_string(i + 1) + "\ninclude " +
                                            std::to_string(i + 1) + "\n");
    folder.write("30", "");
    const Reading reading = folder.read("include 0\n");
    REQUIRE_FALSE(reading.problems.empty());
    CHECK(reading.problems[0].find("too many includes") != std::string::npos);
}

TEST_CASE("of a configuration, only variables count", "[snort2sids][rule_files]")
{
    RuleFolder folder;
    Variables variables;
    const std::function<void(const RuleLine &)> take = [](const RuleLine &) { FAIL("a rule"); };
    RuleFiles files(variables, true, take);
    files.read_config(folder.write("snort.conf", "var A 1\ninclude none\nalert tcp\n"));
    CHECK(files.problems().empty());
    CHECK(variables.expand("$A") == "1");
    CHECK(files.skipped().size() == 2);
}
