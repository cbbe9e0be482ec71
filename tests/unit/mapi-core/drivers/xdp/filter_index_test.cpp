// SPDX-License-Identifier: MIT
// The tables that find filters by their fields.
#include "drivers/xdp/filter_index.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/xdp_programs.hpp"

using namespace test_support;

namespace
{
std::vector<std::string> ports(int first, int count)
{
    std::vector<std::string> expressions;
    for (int port = first; port < first + count; ++port)
        expressions.push_back("udp port " + std::to_string(port));
    return expressions;
}

// An index and the filters that it has.
class Made
{
public:
    explicit Made(const std::vector<std::string> &expressions)
    {
        for (const std::string &expression : expressions)
            filters_.push_back(nodes_.filter(expression, kAll));
        index = FilterIndex::make(nodes_.nodes, filters_);
    }
    std::multiset<uint32_t> all() const
    {
        std::multiset<uint32_t> found(index->always().begin(), index->always().end());
        for (const auto &group : index->groups())
            found.insert(group.begin(), group.end());
        return found;
    }
    bool is_always(uint32_t filter) const
    {
        return std::ranges::count(index->always(), filter) == 1;
    }
    std::multiset<uint32_t> expected() const { return {filters_.begin(), filters_.end()}; }

    std::unique_ptr<const FilterIndex> index;

private:
    Nodes nodes_;
    std::vector<uint32_t> filters_;
};
} // namespace

TEST_CASE("each filter is in one group or runs always", "[mapi-core][xdp]")
{
    std::vector<std::string> expressions = ports(1, 100);
    for (const char *more : {"src port 4 and dst port 4", "port 5 or port 6", "port 0",
                             "not port 3", "src port 7 or dst port 8"})
        expressions.push_back(more);
    const Made made(expressions);
    REQUIRE(made.index);
    CHECK(made.all() == made.expected());
    CHECK(made.index->groups().size() > 64);
    CHECK(made.is_always(102)); // 0 is also the value of a field that is not there
    CHECK(made.is_always(103));
    CHECK(!made.is_always(0));
}

TEST_CASE("values that fold to the same number select the same filters", "[mapi-core][xdp]")
{
    std::vector<std::string> expressions = ports(1, 10);
    expressions.push_back("ether[30:4] = 0x00010002");
    expressions.push_back("ether[30:4] = 0x00020001"); // the same folded
    const Made made(expressions);
    REQUIRE(made.index);
    CHECK(made.all() == made.expected());
}

TEST_CASE("of more fields than an index has, those that most filters test are in it",
          "[mapi-core][xdp]")
{
    std::vector<std::string> expressions = ports(1, 50);
    for (int at = 40; at < 60; ++at)
        expressions.push_back("ether[" + std::to_string(at) + "] = 9");
    const Made made(expressions);
    REQUIRE(made.index);
    CHECK(made.index->fields() <= FilterIndex::kFieldsMax);
    CHECK(made.all() == made.expected());
    CHECK(!made.is_always(0));
    CHECK(made.is_always(69));
}

TEST_CASE("few filters have no index", "[mapi-core][xdp]")
{
    CHECK(!Made(ports(1, FilterIndex::kFewest - 1)).index);
    CHECK(Made(ports(1, FilterIndex::kFewest)).index);
}
