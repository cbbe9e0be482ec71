// SPDX-License-Identifier: MIT
// Flows that cannot be connected for lack of memory are as before, and so are the others.
#include "support/catch.hpp"

#include <cstdlib>
#include <new>

#include "functions/catalog.hpp"
#include "mapi-core/engine/fake_device.hpp"

using mapi::engine::Flow;
using test_support::FakeSource;
using test_support::make_device;
using test_support::value;

namespace
{
thread_local long allocations_left = -1; // of this thread, before one fails; -1: none fails

void *allocate(size_t bytes)
{
    if (allocations_left == 0)
        return nullptr;
    allocations_left -= allocations_left > 0 ? 1 : 0;
    return malloc(bytes != 0 ? bytes : 1);
}
} // namespace

// These replace the library's in the whole program.  If they were inlined, gcc would see new and
// free() in one place, and warn.
[[gnu::noinline]] void *operator new(size_t bytes)
{
    void *const memory = allocate(bytes);
    if (!memory)
        throw std::bad_alloc();
    return memory;
}

[[gnu::noinline]] void *operator new(size_t bytes, const std::nothrow_t &) noexcept
{
    return allocate(bytes);
}

[[gnu::noinline]] void operator delete(void *memory) noexcept
{
    free(memory);
}

[[gnu::noinline]] void operator delete(void *memory, size_t) noexcept
{
    free(memory);
}

TEST_CASE("flows that find no memory when they connect are as before, and connect later",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto first = std::make_shared<Flow>(device);
    const mapi::engine::Arguments filter = {{'s', 0, "udp", {}}};
    first->apply(mapi_fn_bpf_filter, filter);
    first->apply(mapi_fn_pkt_counter, {});
    first->connect();
    const auto one = std::make_shared<Flow>(device), other = std::make_shared<Flow>(device);
    for (const auto &flow : {one, other}) {
        flow->apply(mapi_fn_pkt_counter, {});
        flow->apply(mapi_fn_bpf_filter, filter);
        flow->apply(mapi_fn_pkt_counter, {});
    }
    bool is_connected = false;
    int failures = 0;
    for (; !is_connected; ++failures) {
        REQUIRE(failures < 10000);
        allocations_left = failures;
        try {
            Flow::connect({one.get(), other.get()});
            is_connected = true;
        } catch (const std::bad_alloc &) {
        }
        allocations_left = -1;
        REQUIRE(one->is_connected() == is_connected);
        REQUIRE(other->is_connected() == is_connected);
        FakeSource::instance().give(1);
    }
    CHECK(failures > 10);
    FakeSource::instance().give(4);
    CHECK(value(*one, 1) == 5);
    CHECK(value(*other, 1) == 5);
    CHECK(value(*other, 3) == 0);
    first->close();
    FakeSource::instance().give(4);
    CHECK(value(*one, 1) == 9);
}
