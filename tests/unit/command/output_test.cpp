// SPDX-License-Identifier: MIT
#include "command/output.hpp"

#include <fstream>
#include <iterator>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace
{
std::string content(const std::string &path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}
} // namespace

TEST_CASE("a file appears whole at the end, or not at all", "[command][output]")
{
    test_support::TempDir folder;
    const std::string path = folder / "out.csv";
    std::ofstream(path) << "old";
    {
        command::Output output(path);
        output.text() += "new";
        output.flush();
        CHECK(content(path) == "old");
    }
    CHECK(content(path) == "old");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
    {
        command::Output output(path);
        output.text() += "new";
        output.finish();
    }
    CHECK(content(path) == "new");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a file that cannot be written is an error with its name", "[command][output]")
{
    CHECK_THROWS_WITH(command::Output("/nowhere/out.csv"),
                      Catch::Matchers::Contains("/nowhere/out.csv: ") && !Catch::Matchers::Contains("part"));
    if (!std::filesystem::exists("/dev/full"))
        return;
    command::Output full("/dev/full");
    full.text() += "x";
    CHECK_THROWS_AS(full.finish(), command::OutputError);
}

TEST_CASE("the file that is read is not written over", "[command][output]")
{
    test_support::TempDir folder;
    const std::string path = folder / "t.nsl", link = folder / "link";
    std::ofstream(path) << "trace";
    std::filesystem::create_symlink(path, link);
    CHECK_THROWS_AS(command::Output(path, path), command::UsageError);
    CHECK_THROWS_AS(command::Output(link, path), command::UsageError);
    CHECK(content(path) == "trace");
}

TEST_CASE("a link stays a link, and a file keeps its mode", "[command][output]")
{
    test_support::TempDir folder;
    const std::string path = folder / "out.csv", link = folder / "link";
    std::ofstream(path) << "old";
    std::filesystem::permissions(path, std::filesystem::perms(0640));
    std::filesystem::create_symlink("out.csv", link);
    command::Output output(link);
    output.text() += "new";
    output.finish();
    CHECK(std::filesystem::is_symlink(link));
    CHECK(content(path) == "new");
    CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms(0640));
}
