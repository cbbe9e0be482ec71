// SPDX-License-Identifier: MIT
// Flow table: which flow a number belongs to, and for how long.
#include "client/flow_table.hpp"

#include <stdexcept>
#include <vector>

#include "engine/error.hpp"
#include "support/catch.hpp"

using mapi::client::Flow;
using mapi::client::FlowTable;

namespace
{
// Does nothing.
class NoFlow : public Flow
{
public:
    int apply(const std::string &, mapi::engine::Arguments) override { return 1; }
    mapi::engine::Target target(int, bool) override { return {}; }
    mapi::engine::FlowBegun begun() override { return nullptr; }
    bool is_connected() override { return false; }
    void set_option(int, uint64_t) override {}
    uint64_t option(int) override { return 0; }
    void connect(const std::vector<std::shared_ptr<Flow>> &) override {}
    void reset(int) override {}
    void remove(int) override {}
    void close(const std::vector<std::shared_ptr<Flow>> &) override {}
    mapi_results_t *read_results(int) override { return nullptr; }
    mapi_results_t *next_results(int) override { return nullptr; }
    const mapipkt *next_packet(int) override { return nullptr; }
    int next_packets(int, const mapipkt **, int, int) override { return 0; }
    int poll_descriptor(int) override { return -1; }
    bool wait_for_end(int) override { return true; }
    void describe(mapi_flow_info_t *) override {}
    void describe(int, mapi_function_info_t *) override {}
    int next_function(int) override { return 0; }
};

int add(FlowTable &table)
{
    return table.add([](int) { return std::make_shared<NoFlow>(); });
}
} // namespace

TEST_CASE("the number of a flow belongs to no other flow until it is closed", "[mapi-core][client]")
{
    const auto table = std::make_unique<FlowTable>();
    for (int i = 0; i < FlowTable::kFlowsMax; ++i)
        add(*table);
    CHECK_THROWS_AS(add(*table), mapi::Error);

    const std::vector<int> closed = {7, 9};
    table->remove(closed.data(), 2, [&](const auto &flows) {
        CHECK(flows.size() == 2);
        CHECK_THROWS_AS(add(*table), mapi::Error);
        CHECK_THROWS_AS(table->hold(7), mapi::Error);
    });

    CHECK(add(*table) == 7);
    CHECK(add(*table) == 9);
}

TEST_CASE("no flow is closed if one of them does not exist or is listed twice",
          "[mapi-core][client]")
{
    const auto table = std::make_unique<FlowTable>();
    const int fd = add(*table), other = add(*table);
    const auto close = [](const auto &) { FAIL("must not be called"); };
    for (const std::vector<int> &wrong : {std::vector{fd, 3}, {fd, other, fd}, {fd, 0}, {}}) {
        CHECK_THROWS_AS(table->remove(wrong.data(), int(wrong.size()), close), mapi::Error);
        CHECK(table->hold(fd));
        CHECK(table->hold(other));
    }
}

TEST_CASE("the number of a flow that could not be closed is free", "[mapi-core][client]")
{
    const auto table = std::make_unique<FlowTable>();
    for (int i = 0; i < FlowTable::kFlowsMax; ++i)
        add(*table);
    const int fd = 7;
    CHECK_THROWS_AS(table->remove(&fd, 1, [](const auto &) { throw std::runtime_error("no"); }),
                    std::runtime_error);
    CHECK(add(*table) == 7);
}
