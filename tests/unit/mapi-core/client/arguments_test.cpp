// SPDX-License-Identifier: MIT
// Argument letters of MAPI 2 that no built-in function uses.
#include "client/arguments.hpp"

#include <filesystem>

#include <unistd.h>

#include "engine/error.hpp"
#include "mapi-core/engine/fake_device.hpp"
#include "support/catch.hpp"

using namespace mapi;

namespace
{
// NOLINTNEXTLINE(cert-dcl50-cpp): as mapi_apply_function() takes them
engine::Arguments read(const char *letters, int count, ...)
{
    client::FunctionDescription function{"TEST", letters, ""};
    va_list list;
    va_start(list, count);
    client::GivenArguments given(nullptr, count, list);
    va_end(list);
    return client::read_arguments(function, given, {});
}

mapi_argument seen;
int create(const mapi_function_setup *setup, void **)
{
    seen = setup->arguments[0];
    return setup->argument_count == 1 && !setup->config ? 0 : MFUNCT_INVALID_ARGUMENT_1;
}
uint64_t process(void *, const mapi_batch *, uint64_t mask)
{
    return mask;
}
void destroy(void *) {}
} // namespace

TEST_CASE("a character, a path and the caller's user are read by their letters",
          "[mapi-core][client]")
{
    const engine::Arguments arguments = read("cupi", 3, 'x', "some/file", 7);
    REQUIRE(arguments.size() == 4);
    CHECK(arguments[0].kind == MAPI_ARGUMENT_CHARACTER);
    CHECK(arguments[0].number == 'x');
    CHECK(arguments[1].number == geteuid());
    CHECK(arguments[2].text == std::filesystem::current_path() / "some/file");
    CHECK(arguments[3].number == 7);
    CHECK(read("p", 1, "/a/b")[0].text == "/a/b");
}

TEST_CASE("the caller's user is not an argument that can be missing or superfluous",
          "[mapi-core][client]")
{
    CHECK(read("u", 0).size() == 1);
    CHECK_THROWS_WITH(read("u", 1, 5), "TEST: takes 0 arguments, not 1");
    CHECK_THROWS_WITH(read("uc", 0), "TEST: argument 1, a character, is missing");
}

TEST_CASE("a function gets its character, not lines of mapi.conf", "[mapi-core][engine]")
{
    mapi_function function = {};
    function.abi = MAPI_FUNCTION_ABI;
    function.struct_size = sizeof(function);
    function.name = "TEST";
    function.arguments[0] = MAPI_ARGUMENT_CHARACTER;
    function.create = create;
    function.process = process;
    function.destroy = destroy;
    engine::Flow flow(test_support::make_device());
    CHECK(flow.apply(function, read("c", 1, 'y')) == 1);
    CHECK(seen.number == 'y');
}
