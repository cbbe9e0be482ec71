// SPDX-License-Identifier: MIT
// Registry: which function tables are refused.
#include "support/catch.hpp"

#include <algorithm>
#include <iterator>

#include "engine/error.hpp"
#include "engine/registry/registry.hpp"
#include "mapi-core/engine/function_table.hpp"

namespace
{
using Catch::Matchers::Contains;

mapi_function make_table(const char *name)
{
    mapi_function table = test_support::function_table(name);
    table.create = [](const mapi_function_setup *, void **) { return 0; };
    table.process = [](void *, const mapi_batch *, uint64_t mask) { return mask; };
    return table;
}

// The error message; empty if the table is accepted.
std::string refusal(const mapi_function &table)
{
    const mapi_function *const tables[] = {&table};
    try {
        [[maybe_unused]] const mapi::engine::Registry accepted(tables, {});
        return "";
    } catch (const mapi::Error &error) {
        return error.what();
    }
}
} // namespace

TEST_CASE("a table of another ABI or of earlier headers is refused", "[mapi-core][engine]")
{
    mapi_function table = make_table("OTHER");
    CHECK(refusal(table).empty());
    table.abi = MAPI_FUNCTION_ABI + 1;
    CHECK_THAT(refusal(table), Contains("OTHER: its table has ABI"));
    table = make_table("OLD");
    --table.struct_size;
    CHECK_THAT(refusal(table),
               Contains("OLD: its table was built with headers of an earlier version"));
}

TEST_CASE("an inconsistent table is refused", "[mapi-core][engine]")
{
    mapi_function makes = make_table("MAKES");
    mapi_function_transform transform = {};
    transform.struct_size = sizeof(transform);
    makes.transform = &transform;
    CHECK_THAT(refusal(makes), Contains("MAKES: malformed table: creates packets"));
    mapi_function copied = make_table("COPIED");
    copied.flags = MAPI_FUNCTION_RESULT_IN_PLACE | MAPI_FUNCTION_RESULT_COPIED;
    CHECK(refusal(copied).empty());
    copied.flags = MAPI_FUNCTION_RESULT_COPIED;
    CHECK_THAT(
        refusal(copied),
        Contains("COPIED: malformed table: result is copied for readers, but is not in place"));
    copied.flags |= MAPI_FUNCTION_RESULT_IN_PLACE;
    mapi_function_result result = {};
    result.struct_size = sizeof(result);
    copied.result = &result;
    result.compose = [](mapi_reading *, void *) {};
    CHECK_THAT(refusal(copied), Contains("COPIED: malformed table: result is copied for readers, "
                                         "but there is a compose()"));
    mapi_function sized = make_table("SIZED");
    sized.flags = MAPI_FUNCTION_RESULT_IN_PLACE;
    sized.result_bytes = sizeof(uint64_t);
    CHECK_THAT(refusal(sized),
               Contains("SIZED: malformed table: result is in place, but result_bytes is not 0"));
    mapi_function early = make_table("EARLY");
    mapi_function_filter filter = {};
    filter.struct_size = sizeof(filter);
    early.filter = &filter;
    filter.prefilter = [](const void *, const mapi_batch *, uint64_t *) { return 0; };
    CHECK_THAT(refusal(early),
               Contains("EARLY: malformed table: has a prefilter() but is not PURE"));
    early.flags = MAPI_FUNCTION_PURE;
    CHECK(refusal(early).empty());
    early.result_bytes = sizeof(uint64_t);
    CHECK_THAT(refusal(early), Contains("EARLY: malformed table: has a prefilter()"));
    early.filter = nullptr;
    mapi_function_group group = {};
    group.struct_size = sizeof(group);
    group.create = [](void *const *, uint32_t, void **) { return 0; };
    group.process = [](void *, const mapi_batch *, uint64_t, mapi_group_passed *) {
        return uint32_t{0};
    };
    group.destroy = [](void *) {};
    early.group = &group;
    CHECK(refusal(early).empty());
    group.prefilter = filter.prefilter;
    CHECK_THAT(refusal(early), Contains("EARLY: malformed table: its group has a prefilter()"));
}

TEST_CASE("a table without process() or with a part of earlier headers is refused",
          "[mapi-core][engine]")
{
    mapi_function idle = make_table("IDLE");
    idle.process = nullptr;
    CHECK_THAT(refusal(idle), Contains("IDLE: malformed table: has no process()"));
    mapi_function old = make_table("OLD");
    mapi_function_ending ending = {};
    old.ending = &ending;
    CHECK_THAT(refusal(old), Contains("OLD: malformed table: its ending was built with headers"));
    ending.struct_size = sizeof(ending);
    CHECK(refusal(old).empty());
    mapi_function grouped = make_table("GROUPED");
    mapi_function_group group = {};
    group.struct_size = sizeof(group);
    grouped.group = &group;
    CHECK_THAT(refusal(grouped), Contains("GROUPED: malformed table: its group lacks create()"));
    mapi_function set = make_table("SET");
    mapi_function_config config = {};
    config.struct_size = sizeof(config);
    set.config = &config;
    CHECK_THAT(refusal(set), Contains("SET: malformed table: its config has no section"));
    mapi_function nameless = make_table(nullptr);
    CHECK_THAT(refusal(nameless), Contains("has no name or description"));
    nameless = make_table("NAMED");
    nameless.description = nullptr;
    CHECK_THAT(refusal(nameless), Contains("has no name or description"));
}

TEST_CASE("what only create() can do is refused without it", "[mapi-core][engine]")
{
    const auto why = [](auto change) {
        mapi_function table = make_table("BARE");
        table.create = nullptr;
        change(table);
        return refusal(table);
    };
    CHECK(why([](mapi_function &) {}).empty());
    CHECK_THAT(why([](mapi_function &table) { table.destroy = [](void *) {}; }),
               Contains("has a destroy() but no create()"));
    CHECK_THAT(why([](mapi_function &table) { table.arguments[0] = MAPI_ARGUMENT_INT; }),
               Contains("has arguments or a config but no create()"));
    for (const uint32_t flag : {MAPI_FUNCTION_RESULT_IN_PLACE, MAPI_FUNCTION_RESULTS_IN_RING,
                                MAPI_FUNCTION_PACKETS_IN_RING, MAPI_FUNCTION_METER_END})
        CHECK_THAT(why([&](mapi_function &table) { table.flags = flag; }),
                   Contains("requires a create()"));
    CHECK_THAT(why([](mapi_function &table) { table.flags = MAPI_FUNCTION_ADDITIVE; }),
               Contains("is ADDITIVE, but its result is not one uint64_t"));
}

TEST_CASE("arguments of unknown kinds, or too many of them, are refused", "[mapi-core][engine]")
{
    mapi_function table = make_table("MANY");
    std::fill(std::begin(table.arguments), std::end(table.arguments), MAPI_ARGUMENT_INT);
    CHECK_THAT(refusal(table), Contains("has more than 15 arguments"));
    table.arguments[MAPI_ARGUMENTS_MAX] = 0;
    CHECK(refusal(table).empty());
    for (const int wrong : {7, MAPI_OPTIONAL, 0x400 | MAPI_ARGUMENT_INT}) {
        table.arguments[1] = uint16_t(wrong);
        CHECK_THAT(refusal(table), Contains("argument 2 is not of enum mapi_argument_kind"));
    }
}

TEST_CASE("a table whose result is larger than the limit is refused", "[mapi-core][engine]")
{
    mapi_function table = make_table("LARGE");
    table.result_bytes = MAPI_RESULT_BYTES_MAX;
    CHECK(refusal(table).empty());
    ++table.result_bytes;
    CHECK_THAT(refusal(table), Contains("LARGE: malformed table: result has 6291457 bytes"));
}

TEST_CASE("two tables of the same name are refused", "[mapi-core][engine]")
{
    const mapi_function one = make_table("SAME"), other = make_table("SAME");
    const mapi_function *const tables[] = {&one, &other};
    CHECK_THROWS_AS(mapi::engine::Registry(tables, {}), mapi::Error);
}
