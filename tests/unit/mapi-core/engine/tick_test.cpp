// SPDX-License-Identifier: MIT
// Ticks: a function with a tick() on a live device, where time passes without packets, and on the
// device of a file, whose only time is that of its packets.
#include "support/catch.hpp"

#include <atomic>
#include <bit>
#include <chrono>
#include <memory>
#include <thread>

#include <mapi/errors.h>

#include "engine/flow.hpp"
#include "engine/packet_path/device.hpp"
#include "mapi-core/engine/function_table.hpp"

using mapi::engine::Device;
using mapi::engine::Flow;

namespace
{
constexpr uint32_t kPackets = 3;

// Gives a few packets, each a second after the one before, and none after them.
struct Source {
    std::atomic<bool> is_read = false;
    std::atomic<bool> is_interrupted = false;

    static int open(const mapi_driver_setup *, void **instance, mapi_driver_info *info)
    {
        info->link_type = 1;
        *instance = new Source;
        return 0;
    }
    static int read(void *instance, mapi_packet *packets, uint32_t, mapi_batch *batch)
    {
        static const uint8_t byte = 0;
        Source &self = *static_cast<Source *>(instance);
        if (self.is_interrupted)
            return 0;
        if (self.is_read.exchange(true))
            return MAPI_DRIVER_IDLE;
        for (uint32_t i = 0; i < kPackets; ++i)
            packets[i] = {&byte, 1, 100, i * 1000000000ull, 1, 0, 0};
        mapi_batch_fill(batch, packets, kPackets);
        return int(kPackets);
    }
    static int wait(void *)
    {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return 0;
    }
    static void interrupt(void *instance)
    {
        static_cast<Source *>(instance)->is_interrupted = true;
    }
    static void close(void *instance) { delete static_cast<Source *>(instance); }
};

mapi_driver make_driver(const mapi_driver_live *live)
{
    mapi_driver table = {};
    table.abi = MAPI_DRIVER_ABI;
    table.struct_size = sizeof(table);
    table.name = "ticking";
    table.description = "";
    table.open = Source::open;
    table.read = Source::read;
    table.interrupt = Source::interrupt;
    table.close = Source::close;
    table.live = live;
    return table;
}

const mapi_driver_live kLivePart = {sizeof(kLivePart), nullptr, Source::wait};
const mapi_driver kLive = make_driver(&kLivePart), kFile = make_driver(nullptr);

// The instance is the result: the packets and the ticks so far.
enum Word { kSeen, kTicks, kWords };

void add(void *instance, Word word, uint64_t count)
{
    uint64_t *const at = static_cast<uint64_t *>(instance) + word;
    mapi_result_set(at, mapi_result_get(at) + count);
}

mapi_function make_ticking()
{
    mapi_function table = test_support::function_table("TICKING");
    table.flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_RESULT_IN_PLACE;
    table.create = [](const mapi_function_setup *setup, void **instance) {
        *instance = setup->allocate_result(setup, kWords * sizeof(uint64_t));
        return *instance ? 0 : int(MAPID_MEM_ALLOCATION_ERROR);
    };
    table.process = [](void *instance, const mapi_batch *, uint64_t mask) {
        add(instance, kSeen, uint64_t(std::popcount(mask)));
        return mask;
    };
    table.tick = [](void *instance, uint64_t) { add(instance, kTicks, 1); };
    return table;
}

const mapi_function kTicking = make_ticking();

std::shared_ptr<Device> make_device(const mapi_driver &driver)
{
    mapi::engine::DeviceSettings settings;
    settings.name = "ticking";
    return std::make_shared<Device>(1, settings, driver, true);
}

uint64_t count_of(Flow &flow, int fid, Word word)
{
    return mapi_result_get(static_cast<const uint64_t *>(flow.read_results(fid)->res) + word);
}

bool has_ticked(Flow &flow, int fid, uint64_t ticks)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (count_of(flow, fid, kTicks) < ticks && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return count_of(flow, fid, kTicks) >= ticks;
}
} // namespace

TEST_CASE("a live device calls tick() while no packets arrive", "[mapi-core][engine]")
{
    const auto device = make_device(kLive);
    const auto flow = std::make_shared<Flow>(device);
    const int ticking = flow->apply(kTicking, {});
    flow->connect();
    CHECK(has_ticked(*flow, ticking, 5));
    CHECK(count_of(*flow, ticking, kSeen) == kPackets);
    flow->close();
}

TEST_CASE("a device that is not live never calls tick(), and ends when its driver is idle",
          "[mapi-core][engine]")
{
    const auto device = make_device(kFile);
    const auto flow = std::make_shared<Flow>(device);
    const int ticking = flow->apply(kTicking, {});
    flow->connect();
    REQUIRE(flow->wait_for_end(10000));
    CHECK(count_of(*flow, ticking, kSeen) == kPackets);
    CHECK(count_of(*flow, ticking, kTicks) == 0);
    flow->close();
}
