// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <fstream>

#include "rules.hpp"
#include "support/temp_dir.hpp"

using namespace sids_test;
using test_support::TempDir;

namespace
{
std::string write(const TempDir &dir, const std::string &name, const std::string &text)
{
    const std::string path = (dir / name).string();
    std::ofstream(path) << text;
    return path;
}

std::string path_in(const TempDir &dir, const std::string &name)
{
    return (dir / name).string();
}

struct Read {
    explicit Read(const std::vector<std::string> &paths)
    {
        sids::RuleErrors found;
        for (const sids::Rule &rule : sids::read_rules(paths, found))
            ids.push_back(rule.id);
        errors = found.text();
    }

    std::vector<uint32_t> ids;
    std::string errors;
};
using Ids = std::vector<uint32_t>;
} // namespace

TEST_CASE("comments, empty lines, a byte order mark and line ends of DOS are skipped", "[sids]")
{
    const auto rules =
        rules_of("\xef\xbb\xbf# a \\\r\n\r\n  # b\r\ncount tcp; id:1;\r\n\t\ncount; id:2;");
    REQUIRE(rules.size() == 2);
    CHECK(rules[0].steps.at(0).argument.text() == "tcp");
    CHECK(rules[1].id == 2);
}

TEST_CASE("a rule continues after a backslash at the end of a line", "[sids]")
{
    CHECK(steps_of("count tcp; \\\ncontent:a; \\\n id:1;") ==
          std::vector<std::string>{"BPF_FILTER tcp", "MATCH content:a;"});
    CHECK(rule_of("count; id:1; \\").id == 1);
    // a \ that is escaped itself
    CHECK_THAT(errors_of("count; id:1; content:a\\\\\n"), Catch::Contains("a ; is missing"));
}

TEST_CASE("a file includes others from its own folder", "[sids]")
{
    const TempDir dir;
    write(dir, "b.rules", "count; id:2;\n");
    const std::string top = write(dir, "a.rules",
                                  "count; id:1;\ninclude b.rules\ninclude \"" +
                                      path_in(dir, "c.rules") + "\"\ncount; id:4;\n");
    write(dir, "c.rules", "count; id:3;\n");
    const Read read({top});
    CHECK(read.errors.empty());
    CHECK(read.ids == Ids{1, 2, 3, 4});
}

TEST_CASE("an included file that cannot be read is an error of the line that includes it", "[sids]")
{
    const TempDir dir;
    const std::string top = write(dir, "a.rules", "count; id:1;\n include  no.rules\ninclude\n");
    const Read read({top});
    CHECK_THAT(read.errors, Catch::StartsWith(top + ":2:11: " + path_in(dir, "no.rules") +
                                              ": No such file or directory") &&
                                Catch::Contains(top + ":3:8: include requires the path"));
}

TEST_CASE("a file that includes itself is refused", "[sids]")
{
    const TempDir dir;
    write(dir, "b.rules", "include a.rules\n");
    const std::string top = write(dir, "a.rules", "include b.rules\ncount; id:1;\n");
    const Read read({top});
    CHECK_THAT(read.errors,
               Catch::StartsWith(path_in(dir, "b.rules") + ":1:9: " + top + " includes itself"));
    CHECK(read.ids == Ids{1});
}

TEST_CASE("files that include each other too many times are refused", "[sids]")
{
    const TempDir dir;
    write(dir, "4", "# nothing\n");
    for (int number = 3; number >= 0; --number) {
        std::string text;
        for (int i = 0; i < 10; ++i)
            text += "include " + std::to_string(number + 1) + "\n";
        write(dir, std::to_string(number), text);
    }
    const Read read({write(dir, "a.rules", "include 0\ncount; id:1;\n")});
    CHECK_THAT(read.errors, Catch::Contains(": more than 10000 files are read, by includes\n") &&
                                !Catch::Contains("more error"));
    CHECK(read.ids == Ids{1});
}

TEST_CASE("errors of all files are reported together", "[sids]")
{
    const TempDir dir;
    const std::string one = write(dir, "a.rules", "count; id:x;\n");
    const Read read({one, dir / "no.rules", dir / "", write(dir, "b.rules", "none\n")});
    CHECK_THAT(read.errors, Catch::Contains(one + ":1:11") &&
                                Catch::Contains(path_in(dir, "no.rules") + ": No such file") &&
                                Catch::Contains(": Is a directory") &&
                                Catch::Contains("b.rules:1:1: unknown action \"none\""));
}

TEST_CASE("files without a rule are an error", "[sids]")
{
    const TempDir dir;
    CHECK(Read({write(dir, "a.rules", "# nothing\n")}).errors == "the rule files have no rule\n");
}
