// SPDX-License-Identifier: MIT
// Queue: packets that wait -> the one that is due first; of those due together, in their order.
#include "support/catch.hpp"

#include <iterator>
#include <vector>

#include "queue.hpp"

using namespace impair;

namespace
{
Packet packet(uint64_t number, uint64_t due_ns)
{
    Packet made;
    made.record.number = number;
    made.record.due_ns = due_ns;
    return made;
}
} // namespace

TEST_CASE("packets leave in the order of their times, then of their arrival", "[impair][queue]")
{
    Queue queue(100);
    const uint64_t times[] = {5, 3, 5, 1, 3, 5, 1};
    for (uint64_t number = 0; number < std::size(times); ++number)
        queue.push(packet(number, times[number]));
    std::vector<uint64_t> left;
    CHECK(queue.due_ns() == 1);
    while (!queue.is_empty())
        left.push_back(queue.pop().record.number);
    CHECK(left == std::vector<uint64_t>{3, 6, 1, 4, 0, 2, 5});
    CHECK(queue.due_ns() == UINT64_MAX);
}

TEST_CASE("a queue is full at its limit", "[impair][queue]")
{
    Queue queue(2);
    queue.push(packet(0, 1));
    CHECK_FALSE(queue.is_full());
    queue.push(packet(1, 1));
    CHECK(queue.is_full());
    queue.pop();
    CHECK_FALSE(queue.is_full());
}
