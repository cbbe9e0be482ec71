// SPDX-License-Identifier: MIT
// Result queue: no result is lost without being counted, and no thread waits forever.
#include "functions/common/result_queue.hpp"

#include <thread>

#include "mapi-core/functions/ring_setup.hpp"
#include "support/catch.hpp"

using mapi::functions::ResultQueue;

namespace
{
std::vector<int> numbers(int from, int to)
{
    std::vector<int> entries;
    for (int i = from; i < to; ++i)
        entries.push_back(i);
    return entries;
}

std::vector<int> read_all(RingSetup &setup)
{
    std::vector<int> entries;
    for (int entry; setup.next(entry);)
        entries.push_back(entry);
    return entries;
}
} // namespace

TEST_CASE("results that do not fit in a network queue are dropped and counted, except the last",
          "[mapi-core][functions]")
{
    RingSetup setup;
    ResultQueue<int> queue(&setup.setup, 1);
    auto entries = numbers(0, 1000);
    queue.push(entries);
    CHECK(entries.empty());
    queue.end({7001, 7002});
    std::vector<int> read = read_all(setup);
    REQUIRE(read.size() > 2);
    CHECK(read.size() + setup.memory->writer().dropped() == 1002);
    CHECK(read.back() == 7002);
    read.resize(read.size() - 2);
    CHECK(read == numbers(0, int(read.size())));
}

TEST_CASE("a file's queue loses nothing, however small it is", "[mapi-core][functions]")
{
    RingSetup setup;
    setup.setup.device_flags = MAPI_DEVICE_OFFLINE;
    ResultQueue<int> queue(&setup.setup, 2);
    std::thread writer([&] {
        for (int i = 0; i < 10000; i += 10) {
            auto entries = numbers(i, i + 10);
            queue.push(entries);
        }
        queue.end();
    });
    const std::vector<int> read = read_all(setup);
    writer.join();
    CHECK(read == numbers(0, 10000));
    CHECK(setup.memory->writer().dropped() == 0);
}
