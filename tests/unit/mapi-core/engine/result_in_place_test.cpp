// SPDX-License-Identifier: MIT
// Results in place, which functions may write at any time: what readers get, and functions that
// refer to them.
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <ctime>
#include <memory>
#include <thread>

#include "engine/error.hpp"
#include "functions/catalog.hpp"
#include "mapi-core/engine/fake_device.hpp"
#include "mapi-core/engine/function_table.hpp"

using mapi::engine::Flow;
using mapi::engine::Published;
using test_support::FakeSource;
using test_support::make_device;

namespace
{
constexpr size_t kWords = 6000; // left alone for a while after each copy

// Each word is the number of packets so far.
struct Counts {
    uint64_t *words;
    uint64_t packets;
};

int create(const mapi_function_setup *setup, void **instance)
{
    *instance = new Counts{setup->allocate_result(setup, kWords * sizeof(uint64_t)), 0};
    return 0;
}

void show(Counts &counts)
{
    std::fill_n(counts.words, kWords, counts.packets);
}

uint64_t process(void *instance, const mapi_batch *, uint64_t mask)
{
    auto &counts = *static_cast<Counts *>(instance);
    counts.packets += uint64_t(std::popcount(mask));
    show(counts);
    return mask;
}

mapi_function make_table(uint32_t flags)
{
    mapi_function table = test_support::function_table("COUNTS");
    table.flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_RESULT_IN_PLACE | flags;
    table.create = create;
    table.process = process;
    table.destroy = [](void *instance) { delete static_cast<Counts *>(instance); };
    return table;
}

mapi_function make_copied()
{
    mapi_function table = make_table(MAPI_FUNCTION_RESULT_COPIED);
    table.reset = [](void *instance) {
        static_cast<Counts *>(instance)->packets = 0;
        show(*static_cast<Counts *>(instance));
    };
    return table;
}

const mapi_function kCopied = make_copied();

// The first and the last word.
std::array<uint64_t, 2> read(Flow &flow, int fid)
{
    std::array<uint64_t, kWords> words;
    const mapi_results_t *results = flow.read_results(fid);
    REQUIRE(results->size == int(sizeof(words)));
    memcpy(words.data(), results->res, sizeof(words));
    return {words.front(), words.back()};
}
} // namespace

TEST_CASE("a copied result is exact at the end of the packets, and at a reset after it",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int counts = flow->apply(kCopied, {});
    flow->connect();
    for (uint64_t i = 0; i < 50; ++i)
        FakeSource::instance().give(3);
    const auto [seen, again] = read(*flow, counts);
    CHECK(seen >= 3);
    CHECK(seen <= 150);
    CHECK(again == seen);
    FakeSource::instance().finish();
    REQUIRE(flow->wait_for_end(10000));
    CHECK((read(*flow, counts) == std::array<uint64_t, 2>{150, 150}));
    flow->reset(counts);
    CHECK((read(*flow, counts) == std::array<uint64_t, 2>{0, 0}));
    flow->close();
}

TEST_CASE("a flow that is closed leaves the last value of a copied result", "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int counts = flow->apply(kCopied, {});
    flow->connect();
    for (uint64_t i = 0; i < 50; ++i)
        FakeSource::instance().give(3);
    flow->close();
    CHECK((read(*flow, counts) == std::array<uint64_t, 2>{150, 150}));
}

TEST_CASE("a reference to a copied result sees its value after each packet, not the copy",
          "[mapi-core][engine]")
{
    struct Seen {
        const mapi_reference *reference;
        uint64_t packets, wrong;
    };
    static Seen seen;
    seen = {};
    mapi_function referring = test_support::function_table("REFERRING", "S");
    referring.flags = MAPI_FUNCTION_PASSES_ALL;
    referring.create = [](const mapi_function_setup *setup, void **instance) {
        seen.reference = setup->arguments[0].references[0];
        setup->take_single_packets(setup);
        *instance = &seen;
        return 0;
    };
    referring.process = [](void *, const mapi_batch *, uint64_t mask) {
        ++seen.packets;
        seen.wrong += seen.reference->bytes != kWords * sizeof(uint64_t) ||
                      seen.reference->words[0] != seen.packets ||
                      seen.reference->words[kWords - 1] != seen.packets;
        return mask;
    };
    referring.destroy = [](void *) {};
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int counts = flow->apply(kCopied, {});
    flow->apply(referring, {{'S', 1, "", {flow->target(counts, true)}}});
    flow->connect();
    for (uint64_t i = 0; i < 50; ++i)
        FakeSource::instance().give(3);
    flow->close();
    CHECK(seen.packets == 150);
    CHECK(seen.wrong == 0);
}

TEST_CASE("a function's own read() returns the result", "[mapi-core][engine]")
{
    mapi_function table = make_table(0);
    static mapi_function_result reading = {};
    reading.struct_size = sizeof(reading);
    table.result = &reading;
    reading.read = [](void *instance, void *result) {
        std::fill_n(static_cast<uint64_t *>(result), kWords,
                    static_cast<Counts *>(instance)->packets + 1000);
    };
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int counts = flow->apply(table, {});
    flow->connect();
    FakeSource::instance().give(3);
    CHECK((read(*flow, counts) == std::array<uint64_t, 2>{1003, 1003}));
    flow->close();
}

TEST_CASE("a function's own read() also returns a result of one word", "[mapi-core][engine]")
{
    mapi_function table = make_table(0);
    table.create = [](const mapi_function_setup *setup, void **instance) {
        *instance = setup->allocate_result(setup, sizeof(uint64_t));
        return 0;
    };
    table.process = [](void *, const mapi_batch *, uint64_t mask) { return mask; };
    table.destroy = [](void *) {};
    static mapi_function_result reading = {};
    reading.struct_size = sizeof(reading);
    table.result = &reading;
    reading.read = [](void *, void *result) { *static_cast<uint64_t *>(result) = 7; };
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int fid = flow->apply(table, {});
    flow->connect();
    FakeSource::instance().give(3);
    CHECK(test_support::value(*flow, fid) == 7);
    flow->close();
}

TEST_CASE("a function that requests no result in place has none, and cannot be referred to",
          "[mapi-core][engine]")
{
    mapi_function table = make_table(GENERATE(uint32_t(0), uint32_t(MAPI_FUNCTION_RESULT_COPIED)));
    table.create = [](const mapi_function_setup *, void **instance) {
        *instance = nullptr;
        return 0;
    };
    table.process = [](void *, const mapi_batch *, uint64_t mask) { return mask; };
    table.destroy = [](void *) {};
    const auto flow = std::make_shared<Flow>(make_device());
    const int fid = flow->apply(table, {});
    CHECK(flow->memory(fid).result == nullptr);
    CHECK(flow->memory(fid).result_bytes == 0);
    CHECK_THROWS_WITH(flow->target(fid, true), Catch::Contains("no single result"));
    flow->connect();
    FakeSource::instance().give(3);
    CHECK_THROWS_WITH(flow->read_results(fid), Catch::Contains("COUNTS has no result"));
    flow->close();
}

TEST_CASE("a reader of a result whose writer has stopped halfway sleeps instead of spinning",
          "[mapi-core][engine]")
{
    uint64_t memory[4] = {1, 5, 6, 7}; // odd: words are being changed
    Published published(memory, 3 * sizeof(uint64_t));
    uint64_t copy[3] = {};
    double cpu_s = -1;
    std::thread reader([&] {
        published.read(copy);
        timespec used = {};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
        cpu_s = double(used.tv_sec) + double(used.tv_nsec) * 1e-9;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    std::atomic_ref(memory[0]).store(2);
    reader.join();
    CHECK(copy[2] == 7);
    CHECK(cpu_s < 0.2);
}

TEST_CASE("a function whose table declares no result in place gets no memory for one",
          "[mapi-core][engine]")
{
    mapi_function table = make_table(0);
    table.flags = MAPI_FUNCTION_PASSES_ALL;
    table.create = [](const mapi_function_setup *setup, void **) {
        return setup->allocate_result(setup, sizeof(uint64_t)) ? 0 : MAPI_INTERNAL_ERROR;
    };
    table.destroy = [](void *) {};
    const auto flow = std::make_shared<Flow>(make_device());
    CHECK_THROWS_AS(flow->apply(table, {}), mapi::Error);
}
