// SPDX-License-Identifier: MIT
#include "output.hpp"

#include <fstream>
#include <iterator>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace calibrate;

namespace
{
std::string content(const std::filesystem::path &path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t files_in(const test_support::TempDir &folder)
{
    const std::filesystem::directory_iterator all(folder.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}
} // namespace

TEST_CASE("a file appears under its name only when it is whole", "[calibrate][output]")
{
    const test_support::TempDir folder;
    OutputFile file((folder / "c.json").string());
    CHECK_FALSE(std::filesystem::exists(folder / "c.json"));
    file.finish("whole\n");
    CHECK(content(folder / "c.json") == "whole\n");
    CHECK(files_in(folder) == 1);
}

TEST_CASE("an abandoned file leaves nothing and the old one as it was", "[calibrate][output]")
{
    const test_support::TempDir folder;
    std::ofstream(folder / "c.json") << "old\n";
    {
        OutputFile file((folder / "c.json").string());
    }
    CHECK(content(folder / "c.json") == "old\n");
    CHECK(files_in(folder) == 1);
}

TEST_CASE("a path that cannot be written is told at once", "[calibrate][output]")
{
    const test_support::TempDir folder;
    CHECK_THROWS_AS(OutputFile((folder / "none/c.json").string()), OutputError);
}

TEST_CASE("no path, no file", "[calibrate][output]")
{
    OutputFile file("");
    CHECK_NOTHROW(file.finish("text"));
}

TEST_CASE("a device is written in place", "[calibrate][output]")
{
    OutputFile file("/dev/null");
    CHECK_NOTHROW(file.finish("text"));
    CHECK(std::filesystem::is_character_file("/dev/null"));
}
