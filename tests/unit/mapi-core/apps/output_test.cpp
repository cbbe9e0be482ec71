// SPDX-License-Identifier: MIT
// output: files are whole or not there.
#include "support/catch.hpp"

#include <fstream>
#include <iterator>

#include "output.hpp"
#include "support/temp_dir.hpp"

using namespace mapi_cost;

TEST_CASE("a file is replaced in one step and nothing else is left in its folder", "[mapi_cost][output]")
{
    const test_support::TempDir folder;
    const std::string path = folder / "cost.json";
    write_whole(path, "old");
    write_whole(path, "new");

    std::ifstream file(path);
    CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == "new");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a file that cannot be written is named with the reason", "[mapi_cost][output]")
{
    const test_support::TempDir folder;
    const std::string path = folder / "absent/cost.json";

    CHECK_THROWS_WITH(write_whole(path, "text"), Catch::Matchers::Contains(path) && Catch::Matchers::Contains("No such file"));
}
