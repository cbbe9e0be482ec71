// SPDX-License-Identifier: MIT
// Symbols of functions -> names of their slices.
#include "common/functions/name_match.h"
#include "support/catch.hpp"
#include "support/function_names.hpp"

#include <cstdlib>
#include <string>

extern "C" {
#include "names.h"
}

namespace
{
std::string bare(const std::string &name)
{
    return name.substr(0, nsf_bytes_without_arguments(name.c_str()));
}

bool is_match(const FunctionName &one)
{
    regex_t compiled;
    REQUIRE(regcomp(&compiled, one.expression, REG_EXTENDED | REG_NOSUB) == 0);
    const bool is_match = nsf_is_match(&compiled, one.name, one.symbol) != 0;
    regfree(&compiled);
    return is_match;
}

std::string demangled(const char *symbol)
{
    char *const name = nsf_demangle(symbol);
    std::string copy = name;
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
    CHECK(demangled("i") == "i()");
}

TEST_CASE("functions of C++ have the name that the source has")
{
    CHECK(demangled("_ZN3net5TableIlE4findEl") == "net::Table<long>::find(long)");
}

TEST_CASE("a symbol whose name would be very long is its own name")
{
    const std::string symbol = exploding_symbol();
    const std::string name = demangled(symbol.c_str());
    CHECK(name == symbol + "()");
    const std::string longest = "_Z" + std::to_string(1030) + std::string(1030, 'x') + "v";
    CHECK(demangled(longest.c_str()) == longest + "()");
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

TEST_CASE("an expression means a name, with or without its arguments, or the symbol")
{
    for (const FunctionName &one : kFunctionNames) {
        CAPTURE(one.expression, one.name);
        CHECK(is_match(one) == one.is_match);
    }
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
