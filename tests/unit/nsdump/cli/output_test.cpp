// SPDX-License-Identifier: MIT
#include "cli/output.hpp"

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

TEST_CASE("a file appears whole at the end, or not at all", "[nsdump][output]")
{
    test_support::TempDir folder;
    const std::string path = folder / "out.csv";
    std::ofstream(path) << "old";
    {
        nsdump::Output output(path);
        output.text() += "new";
        output.flush();
        CHECK(content(path) == "old");
    }
    CHECK(content(path) == "old");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
    {
        nsdump::Output output(path);
        output.text() += "new";
        output.finish();
    }
    CHECK(content(path) == "new");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a file that cannot be written is an error with its name", "[nsdump][output]")
{
    CHECK_THROWS_WITH(nsdump::Output("/nowhere/out.csv"), Catch::Matchers::Contains("/nowhere/out.csv"));
    if (!std::filesystem::exists("/dev/full"))
        return;
    nsdump::Output full("/dev/full");
    full.text() += "x";
    CHECK_THROWS_AS(full.finish(), nsdump::OutputError);
}
