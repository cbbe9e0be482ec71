// SPDX-License-Identifier: MIT
// SYNC: which packets pass when flows are connected one after another.
#include "support/catch.hpp"

#include <atomic>
#include <memory>

#include "functions/catalog.hpp"
#include "mapi-core/engine/fake_device.hpp"
#include "mapi-core/engine/function_table.hpp"

using mapi::engine::Arguments;
using mapi::engine::Flow;
using test_support::FakeSource;
using test_support::make_device;
using test_support::value;

namespace
{
Arguments all_of(const std::vector<std::shared_ptr<Flow>> &flows)
{
    Arguments arguments(1);
    arguments[0].kind = MAPI_ARGUMENT_FLOWS;
    arguments[0].number = int64_t(flows.size());
    for (const auto &flow : flows)
        arguments[0].flows.push_back(flow->begun());
    return arguments;
}
} // namespace

TEST_CASE("flows of a device that wait for each other get the same packets from the first on",
          "[mapi-core][functions]")
{
    const auto device = make_device();
    const auto first = std::make_shared<Flow>(device), second = std::make_shared<Flow>(device);
    first->apply(mapi_fn_sync, all_of({first, second}));
    const int of_first = first->apply(mapi_fn_pkt_counter, {});
    second->apply(mapi_fn_sync, all_of({first, second}));
    const int of_second = second->apply(mapi_fn_pkt_counter, {});
    first->connect();
    FakeSource::instance().give(20);
    CHECK(value(*first, of_first) == 0);
    second->connect();
    FakeSource::instance().give(5);
    CHECK(value(*first, of_first) == 5);
    CHECK(value(*second, of_second) == 5);
    mapi_function_info_t info = {};
    first->describe(1, &info);
    CHECK(info.pkts == 25);
    CHECK(info.passed_pkts == 5);
    second->close();
    FakeSource::instance().give(7);
    CHECK(value(*first, of_first) == 12);
    first->close();
}

TEST_CASE("flows that wait for one of a device started in the meantime get the same packets",
          "[mapi-core][functions]")
{
    static const auto other = std::make_shared<std::atomic<uint64_t>>(0);
    mapi_function begins = test_support::function_table("BEGINS");
    begins.create = [](const mapi_function_setup *, void **) { return 0; };
    begins.process = [](void *, const mapi_batch *, uint64_t mask) {
        other->store(1);
        return mask;
    };
    begins.destroy = [](void *) {};
    const auto device = make_device();
    const auto first = std::make_shared<Flow>(device), second = std::make_shared<Flow>(device);
    Arguments both = all_of({first, second});
    both[0].flows.push_back(other);
    both[0].number = 3;
    first->apply(mapi_fn_sync, both);
    const int of_first = first->apply(mapi_fn_pkt_counter, {});
    second->apply(begins, {});
    second->apply(mapi_fn_sync, both);
    const int of_second = second->apply(mapi_fn_pkt_counter, {});
    first->connect();
    second->connect();
    FakeSource::instance().give(20);
    FakeSource::instance().give(5);
    CHECK(value(*first, of_first) == 5);
    CHECK(value(*second, of_second) == 5);
    second->close();
    first->close();
}

TEST_CASE("a flow that is closed before it was connected keeps the others waiting",
          "[mapi-core][functions]")
{
    const auto device = make_device();
    const auto waiting = std::make_shared<Flow>(device);
    auto other = std::make_shared<Flow>(device);
    waiting->apply(mapi_fn_sync, all_of({other}));
    const int packets = waiting->apply(mapi_fn_pkt_counter, {});
    waiting->connect();
    other->close();
    other.reset();
    FakeSource::instance().give(20);
    CHECK(value(*waiting, packets) == 0);
    waiting->close();
}
