// SPDX-License-Identifier: MIT
#include "decode/source/bytes.hpp"

#include <fstream>

#include "decode/error.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using Catch::Matchers::Contains;

TEST_CASE("a file returns the bytes at an offset, and fewer at its end", "[nsdump][bytes]")
{
    test_support::TempDir folder;
    const std::string path = folder / "file";
    std::ofstream(path) << "0123456789";
    auto source = nsdump::open_file(path);
    char text[8] = {};

    CHECK(source->size_bytes() == 10);
    CHECK(source->read_at(3, text, 4) == 4);
    CHECK(std::string(text, 4) == "3456");
    CHECK(source->read_at(8, text, 8) == 2);
    CHECK(source->read_at(100, text, 8) == 0);
}

TEST_CASE("a file that is truncated while it is read gives a short read", "[nsdump][bytes]")
{
    test_support::TempDir folder;
    const std::string path = folder / "file";
    std::ofstream(path) << std::string(10000, 'x');
    auto source = nsdump::open_file(path);
    std::filesystem::resize_file(path, 4);
    char text[8];

    CHECK(source->read_at(0, text, 8) == 4);
    CHECK(source->read_at(5000, text, 8) == 0);
}

TEST_CASE("a file that cannot be opened is reported with name and reason", "[nsdump][bytes]")
{
    CHECK_THROWS_WITH(nsdump::open_file("/nowhere/x.nsl"),
                      Contains("/nowhere/x.nsl") &&
                          Contains("No such file or directory (check the name"));
}

TEST_CASE("a folder or a pipe is refused with an alternative", "[nsdump][bytes]")
{
    test_support::TempDir folder;
    CHECK_THROWS_WITH(nsdump::open_file(folder.path()), Contains("is a directory"));
}
