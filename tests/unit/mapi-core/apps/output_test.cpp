// SPDX-License-Identifier: MIT
// output: files are whole or not there.
#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <unistd.h>

#include "output.hpp"
#include "support/temp_dir.hpp"

using namespace mapi_cost;
namespace fs = std::filesystem;

namespace
{
std::string text_in(const fs::path &path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}
} // namespace

TEST_CASE("a file is replaced in one step and nothing else is left in its folder", "[mapi_cost][output]")
{
    const test_support::TempDir folder;
    const std::string path = folder / "cost.json";
    write_whole(path, "old");
    write_whole(path, "new");

    CHECK(text_in(path) == "new");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a file that cannot be written is named with the reason", "[mapi_cost][output]")
{
    const test_support::TempDir folder;
    const std::string path = folder / "absent/cost.json";

    CHECK_THROWS_WITH(write_whole(path, "text"), Catch::Matchers::Contains(path) && Catch::Matchers::Contains("No such file"));
}

TEST_CASE("a symbolic link stays, and the file that it names is replaced", "[mapi_cost][output]")
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
    CHECK(text_in(folder / "there/cost.json") == "new");
}

TEST_CASE("a file keeps its mode when it is replaced", "[mapi_cost][output]")
{
    const test_support::TempDir folder;
    const std::string path = folder / "cost.json";
    write_whole(path, "old");
    fs::permissions(path, fs::perms(0640));
    write_whole(path, "new");

    CHECK(fs::status(path).permissions() == fs::perms(0640));
}

TEST_CASE("a file with the longest name can be written", "[mapi_cost][output]")
{
    const test_support::TempDir folder;
    const std::string path = folder / std::string(255, 'x');
    write_whole(path, "text");

    CHECK(text_in(path) == "text");
}

TEST_CASE("outputs that are the capture or each other are refused, under whatever name", "[mapi_cost][output]")
{
    const test_support::TempDir folder;
    const std::string capture = folder / "x.pcap";
    write_whole(capture, "packets");
    fs::create_symlink("x.pcap", folder / "link");
    fs::create_hard_link(capture, folder / "hard");
    const std::string output = folder / "cost.json";

    for (const std::string name : {"x.pcap", "link", "hard", "./x.pcap"})
        CHECK_THROWS_AS(check_outputs(capture, {folder / name}), OutputClash);
    CHECK_THROWS_AS(check_outputs(capture, {output, folder / "./cost.json"}), OutputClash); // neither is there yet
    write_whole(output, "old");
    CHECK_THROWS_AS(check_outputs(capture, {output, output}), OutputClash);
    CHECK_NOTHROW(check_outputs(capture, {output, folder / "cost.csv"}));
    CHECK_NOTHROW(check_outputs(capture, {"/dev/null", "/dev/null"}));
    CHECK_NOTHROW(check_outputs(capture, {"-", ""}));
    CHECK(text_in(capture) == "packets");
}

TEST_CASE("an output that cannot be written is known before anything is measured", "[mapi_cost][output]")
{
    const test_support::TempDir folder;
    using Catch::Matchers::Contains;

    CHECK_THROWS_WITH(check_outputs("x.pcap", {folder / "absent/cost.json"}), Contains("absent/cost.json: cannot write: No such file"));
    CHECK_THROWS_WITH(check_outputs("x.pcap", {folder.path().string()}), Contains("Is a directory"));
    fs::create_symlink("loop", folder / "loop");
    CHECK_THROWS_WITH(check_outputs("x.pcap", {folder / "loop"}), Contains("loop: cannot write: Too many levels"));
    CHECK(fs::is_symlink(folder / "loop"));
}
