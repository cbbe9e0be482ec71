// SPDX-License-Identifier: MIT
// Table arguments: what a table lists -> the letters that describe it.
#include "support/catch.hpp"

#include "engine/config/arguments.hpp"
#include "functions/catalog.hpp"

using mapi::engine::argument_letters;

TEST_CASE("arguments are described by MAPI 2's letters, a mark before the first optional one",
          "[mapi-core][engine]")
{
    mapi_function table = {};
    CHECK(argument_letters(table).empty());
    table.arguments[0] = MAPI_ARGUMENT_INT;
    table.arguments[1] = MAPI_ARGUMENT_FILE;
    CHECK(argument_letters(table) == "iw");
    table.arguments[2] = MAPI_OPTIONAL | MAPI_ARGUMENT_INT;
    table.arguments[3] = MAPI_OPTIONAL | MAPI_ARGUMENT_INT64;
    table.arguments[4] = MAPI_OPTIONAL_COUNTED | MAPI_ARGUMENT_ROTATION;
    CHECK(argument_letters(table) == "iw?il??W");
}

TEST_CASE("built-in functions have the arguments that the manual describes", "[mapi-core][engine]")
{
    const auto letters = [](const char *name) {
        for (const mapi_function *function : mapi::functions::catalog()) {
            if (std::string(function->name) == name)
                return argument_letters(*function);
        }
        return std::string("unknown function");
    };
    CHECK(letters("TO_FILE") == "iw?i??W");
    CHECK(letters("STR_SEARCH") == "sii??s");
    CHECK(letters("TOP") == "iii?ii");
    CHECK(letters("RES2FILE") == "sSsws?b");
    CHECK(letters("TO_BUFFER") == "?i");
    CHECK(letters("BINOP") == "irfrf");
    CHECK(letters("PKT_COUNTER").empty());
}
