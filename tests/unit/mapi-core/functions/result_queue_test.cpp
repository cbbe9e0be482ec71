// SPDX-License-Identifier: MIT
// Result queue: nothing is lost in silence, and nobody waits for ever.
#include "functions/result_queue.hpp"

#include <thread>

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
} // namespace

TEST_CASE("what finds no room in a queue whose writer does not wait is dropped and counted", "[mapi-core][functions]")
{
    ResultQueue<int> queue(false, 3);
    auto entries = numbers(0, 5);
    queue.push(entries);
    CHECK(entries.empty());
    CHECK(queue.dropped() == 2);
    int entry = -1;
    CHECK(queue.next(entry));
    CHECK(entry == 0);
    queue.end({7});
    std::vector<int> rest;
    while (queue.next(entry))
        rest.push_back(entry);
    CHECK(rest == std::vector<int>{1, 2, 7});
}

TEST_CASE("a writer that waits loses nothing, however small the queue", "[mapi-core][functions]")
{
    ResultQueue<int> queue(true, 2);
    std::thread writer([&] {
        for (int i = 0; i < 1000; i += 10) {
            auto entries = numbers(i, i + 10);
            queue.push(entries);
        }
        queue.end();
    });
    std::vector<int> read;
    for (int entry; queue.next(entry);)
        read.push_back(entry);
    writer.join();
    CHECK(read == numbers(0, 1000));
    CHECK(queue.dropped() == 0);
}

TEST_CASE("a cancelled queue lets its writer and its reader go", "[mapi-core][functions]")
{
    ResultQueue<int> full(true, 1), empty(true);
    std::thread writer([&] {
        auto entries = numbers(0, 3);
        full.push(entries);
    });
    bool has_read = true;
    std::thread reader([&] {
        int entry;
        has_read = empty.next(entry);
    });
    full.cancel();
    empty.cancel();
    writer.join();
    reader.join();
    CHECK(!has_read);
    CHECK(full.dropped() >= 2);
}
