// SPDX-License-Identifier: MIT
#include "common/command/output.hpp"

#include <fstream>
#include <iterator>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace command;
namespace fs = std::filesystem;

namespace
{
std::string content(const std::string &path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}
} // namespace

TEST_CASE("a file appears complete at the end, or not at all", "[command][output]")
{
    test_support::TempDir folder;
    const std::string path = folder / "out.csv";
    std::ofstream(path) << "old";
    {
        Output output(path);
        output.text() += "new";
        output.flush();
        CHECK(content(path) == "old");
    }
    CHECK(content(path) == "old");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
    {
        Output output(path);
        output.text() += "new";
        output.finish();
    }
    CHECK(content(path) == "new");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a file that cannot be written is an error with its name", "[command][output]")
{
    CHECK_THROWS_WITH(Output("/nowhere/out.csv"), Catch::Matchers::Contains("/nowhere/out.csv: ") &&
                                                      !Catch::Matchers::Contains("part"));
    if (!std::filesystem::exists("/dev/full"))
        return;
    Output full("/dev/full");
    full.text() += "x";
    CHECK_THROWS_AS(full.finish(), OutputError);
}

TEST_CASE("the input file is not overwritten", "[command][output]")
{
    test_support::TempDir folder;
    const std::string path = folder / "t.nsl", link = folder / "link";
    std::ofstream(path) << "trace";
    std::filesystem::create_symlink(path, link);
    CHECK_THROWS_AS(Output(path, {path}), UsageError);
    CHECK_THROWS_AS(Output(link, {"", path}), UsageError);
    CHECK(content(path) == "trace");
}

TEST_CASE("a link stays a link, and a file keeps its mode", "[command][output]")
{
    test_support::TempDir folder;
    const std::string path = folder / "out.csv", link = folder / "link";
    std::ofstream(path) << "old";
    std::filesystem::permissions(path, std::filesystem::perms(0640));
    std::filesystem::create_symlink("out.csv", link);
    Output output(link);
    output.text() += "new";
    output.finish();
    CHECK(std::filesystem::is_symlink(link));
    CHECK(content(path) == "new");
    CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms(0640));
}

TEST_CASE("a symbolic link stays, and the file it points to is replaced", "[command][output]")
{
    const test_support::TempDir folder;
    fs::create_directory(folder / "there");
    const bool exists = GENERATE(true, false);
    if (exists)
        write_whole(folder / "there/cost.json", "old");
    fs::create_symlink("there/cost.json", folder / "near");
    fs::create_symlink(folder / "near", folder / "far");

    write_whole(folder / "far", "new");

    CHECK(fs::is_symlink(folder / "far"));
    CHECK(fs::is_symlink(folder / "near"));
    CHECK(content(folder / "there/cost.json") == "new");
}

TEST_CASE("a file with the longest name can be written", "[command][output]")
{
    const test_support::TempDir folder;
    const std::string path = folder / std::string(255, 'x');
    write_whole(path, "text");

    CHECK(content(path) == "text");
}

TEST_CASE("outputs that are the capture or each other are refused under any name",
          "[command][output]")
{
    const test_support::TempDir folder;
    const std::string capture = folder / "x.pcap";
    write_whole(capture, "packets");
    fs::create_symlink("x.pcap", folder / "link");
    fs::create_hard_link(capture, folder / "hard");
    const std::string output = folder / "cost.json";

    for (const std::string name : {"x.pcap", "link", "hard", "./x.pcap"})
        CHECK_THROWS_AS(check_outputs(capture, {folder / name}), UsageError);
    CHECK_THROWS_AS(check_outputs(capture, {output, folder / "./cost.json"}),
                    UsageError); // neither exists yet
    write_whole(output, "old");
    CHECK_THROWS_WITH(check_outputs(capture, {output, output}),
                      output + ": is used for two outputs (choose another name)");
    CHECK_THROWS_WITH(check_outputs(capture, {capture}),
                      capture + ": the output is the same file as the input (choose another name)");
    CHECK_NOTHROW(check_outputs(capture, {output, folder / "cost.csv"}));
    CHECK_NOTHROW(check_outputs(capture, {"/dev/null", "/dev/null"}));
    CHECK_NOTHROW(check_outputs(capture, {"-", ""}));
    CHECK(content(capture) == "packets");
}

TEST_CASE("an output that cannot be written is detected before anything is measured",
          "[command][output]")
{
    const test_support::TempDir folder;
    using Catch::Matchers::Contains;

    CHECK_THROWS_WITH(
        check_outputs("x.pcap", {folder / "absent/cost.json"}),
        Contains(
            "absent/cost.json: cannot write: No such file or directory (create its folder first"));
    CHECK_THROWS_WITH(check_outputs("x.pcap", {folder.path().string()}),
                      Contains("Is a directory (specify a file in that folder"));
    fs::create_symlink("loop", folder / "loop");
    CHECK_THROWS_WITH(check_outputs("x.pcap", {folder / "loop"}),
                      Contains("loop: cannot write: Too many levels"));
    CHECK(fs::is_symlink(folder / "loop"));
}
