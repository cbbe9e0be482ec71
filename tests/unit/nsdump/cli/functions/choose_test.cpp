// SPDX-License-Identifier: MIT
#include "cli/functions/choose.hpp"
#include "decode/error.hpp"
#include "support/catch.hpp"
#include "support/function_names.hpp"

namespace
{
nsdump::ElfFunction function(const std::string &name, const std::string &symbol, uint64_t address)
{
    nsdump::ElfFunction one;
    one.name = name;
    one.symbol = symbol;
    one.address = address;
    return one;
}

std::vector<nsdump::ElfObject> objects()
{
    nsdump::ElfObject program, library;
    program.name = "./app";
    program.functions = {function("parse()", "parse", 0x10),
                         function("parse_all()", "parse_all", 0x20),
                         function("ns::Box::size(int) const", "_ZNK2ns3Box4sizeEi", 0x30),
                         function("ns::Box::size(long) const", "_ZNK2ns3Box4sizeEl", 0x40),
                         function("helper()", "helper", 0x50),
                         function("helper()", "helper", 0x60),
                         function("alias()", "alias", 0x10)};
    library.name = "/lib/libpacket.so.1";
    library.functions = {function("parse_packet()", "parse_packet", 0x10)};
    return {program, library};
}

std::vector<std::string> names(const std::vector<std::string> &patterns)
{
    const std::vector<nsdump::ElfObject> all = objects();
    std::vector<std::string> names;
    for (const nsdump::ChosenFunction &one : nsdump::choose_functions(all, patterns))
        names.push_back(one.name);
    return names;
}

std::string refusal(const std::string &pattern)
{
    const std::vector<nsdump::ElfObject> all = objects();
    try {
        nsdump::choose_functions(all, {pattern});
    } catch (const nsdump::TraceError &error) {
        return error.what();
    }
    return {};
}
using Names = std::vector<std::string>;
} // namespace

TEST_CASE("an expression is found anywhere in a name, in all objects or in one",
          "[nsdump][functions]")
{
    CHECK(names({"parse"}) == Names{"parse()", "parse_all()", "parse_packet()"});
    CHECK(names({"^parse$"}) == Names{"parse()"});
    CHECK(names({"libpacket:parse"}) == Names{"parse_packet()"});
    CHECK(names({"app:^parse$"}) == Names{"parse()"});
    CHECK(names({"^[[:alpha:]]+_all$"}) == Names{"parse_all()"});
}

TEST_CASE("names of C++ match with and without their arguments, and in the symbol's form",
          "[nsdump][functions]")
{
    CHECK(names({"ns::Box::size$"}).size() == 2);
    CHECK(names({"ns::Box::size\\(long\\)"}) == Names{"ns::Box::size(long) const"});
    CHECK(names({"^_ZNK2ns3Box4sizeEi$"}) == Names{"ns::Box::size(int) const"});
}

TEST_CASE("expressions mean the functions that libnsprobe-functions.so takes",
          "[nsdump][functions]")
{
    for (const FunctionName &one : kFunctionNames) {
        CAPTURE(one.expression, one.name);
        nsdump::ElfObject program;
        program.functions = {function(one.name, one.symbol, 0x10),
                             function("other()", "other", 0x20)};
        const std::vector<nsdump::ElfObject> all = {program};
        const std::string patterns = std::string(one.expression) + "|^other$";
        CHECK(nsdump::choose_functions(all, {patterns}).size() == (one.is_match ? 2 : 1));
    }
}

TEST_CASE("a function is chosen once, and functions of the same name get different ones",
          "[nsdump][functions]")
{
    CHECK(names({"^parse$", "^alias$", "parse"}).size() == 3);
    CHECK(names({"helper"}) == Names{"helper() @50", "helper() @60"});
}

TEST_CASE("an expression without a function is refused with similar names, or with the object's",
          "[nsdump][functions]")
{
    CHECK(refusal("prase").find("similar: parse") != std::string::npos);
    CHECK(refusal("libnone:x").find("no shared object libnone") != std::string::npos);
    CHECK_FALSE(nsdump::is_function_pattern("(").empty());
    CHECK_FALSE(nsdump::is_function_pattern("app:").empty());
    CHECK(nsdump::is_function_pattern("a::b").empty());
    CHECK(nsdump::is_function_pattern("(a{1,10}b{2}){2,5}").empty());
    for (const std::string &costly :
         {std::string(20000, '(') + "a" + std::string(20000, ')'), std::string("a{1,32767}"),
          std::string("((a{1,100}){1,100}){1,100}"), std::string("(.*)\\1"),
          std::string("app:a{99999999999999999999}")})
        CHECK_FALSE(nsdump::is_function_pattern(costly).empty());
    CHECK(nsdump::has_object("libc:x"));
    CHECK_FALSE(nsdump::has_object("a::b"));
}
