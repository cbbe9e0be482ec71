// SPDX-License-Identifier: MIT
// Symbols of functions -> names of their slices.
#include "support/catch.hpp"

#include <cstdlib>
#include <string>

extern "C" {
#include "names.h"
}

namespace
{
std::string bare(std::string name)
{
    nsf_without_arguments(name.data());
    return name.c_str();
}

std::string demangled(const char *symbol)
{
    char *const name = nsf_demangle(symbol);
    const std::string copy = name;
    std::free(name);
    return copy;
}

std::string unique(const std::string &wanted, char *const *others, size_t count)
{
    char name[NSF_NAME_BYTES];
    nsf_make_unique(name, wanted.c_str(), others, count);
    return name;
}
} // namespace

TEST_CASE("functions of C have the name of the symbol")
{
    CHECK(demangled("decode_frame") == "decode_frame()");
    CHECK(demangled("_Zap") == "_Zap()");
}

TEST_CASE("functions of C++ have the name that the source has")
{
    CHECK(demangled("_ZN3net5TableIlE4findEl") == "net::Table<long>::find(long)");
}

TEST_CASE("names without arguments")
{
    CHECK(bare("decode_frame()") == "decode_frame");
    CHECK(bare("net::Table<long>::find(long)") == "net::Table<long>::find");
    CHECK(bare("(anonymous namespace)::run(int, void (*)(int)) const") ==
          "(anonymous namespace)::run");
    CHECK(bare("data") == "data");
    CHECK(bare("") == "");
}

TEST_CASE("functions that would share a name are numbered, and long names cut")
{
    char first[] = "find()", second[] = "find()_2";
    char *const others[] = {first, second};
    CHECK(unique("find()", others, 0) == "find()");
    CHECK(unique("find()", others, 1) == "find()_2");
    CHECK(unique("find()", others, 2) == "find()_3");
    CHECK(unique(std::string(5000, 'x'), others, 2).size() < NSF_NAME_BYTES);
}
