// SPDX-License-Identifier: MIT
#include "common/command/output_folder.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/command/output.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace command;
namespace fs = std::filesystem;

namespace
{
ptrdiff_t entries(const fs::path &folder)
{
    return std::distance(fs::directory_iterator(folder), {});
}
} // namespace

TEST_CASE("a folder appears complete at the end", "[command][output_folder]")
{
    test_support::TempDir place;
    const std::string path = place / "trace/";
    OutputFolder folder(path);
    folder.begin("one");
    folder.write("first ");
    folder.write("and second");
    folder.begin("two");
    CHECK_FALSE(fs::exists(path));
    folder.finish();
    CHECK(fs::file_size(path + "one") == 16);
    CHECK(fs::file_size(path + "two") == 0);
    CHECK(entries(place.path()) == 1);
}

TEST_CASE("a folder that is not finished leaves nothing behind", "[command][output_folder]")
{
    test_support::TempDir place;
    {
        OutputFolder folder(place / "trace");
        folder.begin("one");
        folder.write("bytes");
    }
    CHECK(entries(place.path()) == 0);
}

TEST_CASE("an empty folder is replaced, other things are not", "[command][output_folder]")
{
    test_support::TempDir place;
    fs::create_directory(place / "empty");
    OutputFolder folder(place / "empty");
    folder.begin("one");
    folder.finish();
    CHECK(entries(place / "empty") == 1);
    CHECK_THROWS_WITH(OutputFolder(place / "empty"), Catch::Matchers::Contains("is not empty"));
    std::ofstream(place / "file") << "text";
    CHECK_THROWS_WITH(OutputFolder(place / "file"), Catch::Matchers::Contains("is not a folder"));
    CHECK_THROWS_AS(OutputFolder(place / "nowhere/trace"), OutputError);
    CHECK(entries(place.path()) == 2);
}
