// SPDX-License-Identifier: MIT
// collection: several rules -> conversions with distinct numbers.
#include "support/catch.hpp"

#include "collection.hpp"
#include "malformed_at.hpp"

using namespace snort2sids;

namespace
{
std::vector<Result> convert_all(const std::vector<std::string> &rules)
{
    const Settings settings;
    const Variables variables;
    Collection collection(settings, variables);
    uint64_t number = 0;
    for (const std::string &text : rules) {
        const Line line = {text, {{0, ++number, 0, text}}, "a.rules"};
        collection.add({line, 0, "alert"});
    }
    return collection.results();
}
} // namespace

TEST_CASE("a number that is taken is refused, with the place of its first rule",
          "[snort2sids][collection]")
{
    const auto results = convert_all(
        {"alert ip any any -> any any (dce_iface:x; sid:7;)",
         "alert ip any any -> any any (sid:7;)", "alert ip any any -> any any (sid:7;)",
         "alert ip any any -> any any (gid:3; sid:7;)", "alert ip any any -> any any (sid:8;)"});
    REQUIRE(results.size() == 5);
    CHECK(results[0].refusal());
    CHECK(results[1].conversion()); // the first is refused, so its number is free
    CHECK(std::string(results[2].refusal()->what()) ==
          "a second rule with the same sid: the first is at a.rules:2:1");
    CHECK(std::string(results[3].refusal()->what()) ==
          "a sid of two generators (gid): the first is at a.rules:2:1");
    CHECK(results[4].conversion());
}

TEST_CASE("a rule that breaks Snort's grammar is an error, not a refusal",
          "[snort2sids][collection]")
{
    CHECK(malformed_at([] { convert_all({"alert ip any any -> any any (sid:7"}); }).offset == 34);
    CHECK(malformed_at([] { convert_all({"alert ip any any -> any"}); }).offset == 23);
}
