// SPDX-License-Identifier: MIT
// Offload: functions that the driver runs, and those after them in the engine, see the same
// packets.
#include "engine/packet_path/offload.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/flow.hpp"
#include "engine/packet_path/device.hpp"
#include "functions/catalog.hpp"
#include "mapi-core/engine/offload_driver.hpp"
#include "support/catch.hpp"

using mapi::engine::Argument;
using mapi::engine::Device;
using mapi::engine::Flow;
using test_support::Frame;
using test_support::OffloadSource;

namespace
{
// PKT_COUNTER, but only the engine can run it.
mapi_function make_seen()
{
    mapi_function table = mapi_fn_pkt_counter;
    table.name = "SEEN";
    table.offload = nullptr;
    return table;
}
const mapi_function kSeen = make_seen();

std::shared_ptr<Device> make_device()
{
    mapi::engine::DeviceSettings settings;
    settings.name = "offload";
    return std::make_shared<Device>(1, settings, OffloadSource::table(), true);
}

// Frames of Ethernet type 0x0800 (true) or 0x0806, of 60 bytes.
Frame frame(bool is_ip)
{
    Frame frame(60, 0);
    frame[12] = 8;
    frame[13] = is_ip ? 0 : 6;
    return frame;
}

struct Counted {
    std::shared_ptr<Flow> flow;
    int filter, in_driver, in_engine;

    Counted(const std::shared_ptr<Device> &device, const std::string &expression)
        : flow(std::make_shared<Flow>(device))
    {
        filter = flow->apply(mapi_fn_bpf_filter, {Argument{'s', 0, expression, {}}});
        in_driver = flow->apply(mapi_fn_pkt_counter, {});
        in_engine = flow->apply(kSeen, {});
        flow->connect();
    }
    ~Counted() { flow->close(); }

    uint64_t value(int function) const
    {
        return *static_cast<uint64_t *>(flow->read_results(function)->res);
    }
    bool comes_to(uint64_t packets) const
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (value(in_driver) != packets || value(in_engine) != packets) {
            if (std::chrono::steady_clock::now() > end)
                return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return true;
    }
};
} // namespace

TEST_CASE("functions that the driver runs count what it has passed", "[mapi-core][engine]")
{
    const auto device = make_device();
    {
        Counted ip(device, "ip"), arp(device, "arp"), ip_too(device, "ip");
        for (int i = 0; i < 100; ++i)
            OffloadSource::instance().arrive(frame(i % 4 != 0));
        CHECK(ip.comes_to(75));
        CHECK(ip_too.comes_to(75));
        CHECK(arp.comes_to(25));
        mapi_function_info_t info = {};
        ip.flow->describe(ip.filter, &info);
        CHECK(info.pkts == 100);
        CHECK(info.passed_pkts == 75);
        mapi_stat_t stats = {};
        device->copy_stats(&stats);
        CHECK(stats.ps_recv == 100);
        CHECK(stats.bytes_recv == 6000);
        CHECK(stats.ps_drop == 0);
    }
}

TEST_CASE("packets on which the driver cannot decide count as if it had", "[mapi-core][engine]")
{
    const auto device = make_device();
    Counted ip(device, "ip"), arp(device, "arp");
    const auto nested = std::make_shared<Flow>(device);
    nested->apply(mapi_fn_bpf_filter, {Argument{'s', 0, "ip", {}}});
    nested->apply(mapi_fn_bpf_filter, {Argument{'s', 0, "greater 100", {}}});
    const int large = nested->apply(mapi_fn_pkt_counter, {});
    nested->connect();
    for (int i = 0; i < 300; ++i) {
        Frame one = frame(i % 4 != 0);
        one.resize(i % 8 == 1 ? 200 : 60);
        one[0] = i % 3 == 0 ? OffloadSource::kUndecided : 0;
        OffloadSource::instance().arrive(one);
    }
    CHECK(ip.comes_to(225));
    CHECK(arp.comes_to(75));
    CHECK(*static_cast<uint64_t *>(nested->read_results(large)->res) == 38);
    mapi_function_info_t info = {};
    ip.flow->describe(ip.filter, &info);
    CHECK(info.passed_pkts == 225);
    nested->close();
}

TEST_CASE("packets that arrived before a flow was connected are not the flow's, though read later",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    Counted first(device, "ip");
    OffloadSource::instance().hold(true);
    for (int i = 0; i < 10; ++i)
        OffloadSource::instance().arrive(frame(true));
    const size_t switches = OffloadSource::instance().switches();
    std::unique_ptr<Counted> second;
    std::thread connects([&] { second = std::make_unique<Counted>(device, "ip or arp"); });
    while (OffloadSource::instance().switches() == switches)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (int i = 0; i < 7; ++i)
        OffloadSource::instance().arrive(frame(true));
    OffloadSource::instance().hold(false);
    connects.join();
    CHECK(first.comes_to(17));
    CHECK(second->comes_to(7));
}

TEST_CASE("flows come and go while packets arrive, and each sees the same in driver and engine",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    std::atomic<bool> is_over = false;
    std::atomic<uint64_t> sent = 0;
    auto stays = std::make_unique<Counted>(device, "ip");
    std::thread sender([&] {
        while (!is_over) {
            OffloadSource::instance().arrive(frame(sent % 2 == 0));
            ++sent;
            if (sent % 64 == 0)
                std::this_thread::yield();
        }
    });
    std::vector<std::unique_ptr<Counted>> flows;
    for (int round = 0; round < 60; ++round) {
        flows.push_back(std::make_unique<Counted>(device, round % 3 == 0 ? "arp" : "ip"));
        if (round % 2 == 1)
            flows.erase(flows.begin() + round % int(flows.size()));
    }
    is_over = true;
    sender.join();
    CHECK(stays->comes_to((sent + 1) / 2));
    for (const auto &flow : flows) {
        const uint64_t packets = flow->value(flow->in_driver);
        INFO("in the driver " << packets << ", in the engine " << flow->value(flow->in_engine));
        CHECK(flow->comes_to(packets));
    }
    flows.clear();
    stays.reset();
    // Programs of plans that are no longer used are destroyed.
    device->free_retired();
    CHECK(OffloadSource::instance().programs() <= 2);
}

TEST_CASE("a device can end while flows are connected and packets wait", "[mapi-core][engine]")
{
    for (int round = 0; round < 20; ++round) {
        const size_t before = OffloadSource::instance().programs();
        {
            const auto device = make_device();
            const auto flow = std::make_shared<Flow>(device);
            flow->apply(kSeen, {});
            flow->connect();
            OffloadSource::instance().hold(round % 2 == 0);
            for (int i = 0; i < 100; ++i)
                OffloadSource::instance().arrive(frame(true));
        }
        CHECK(OffloadSource::instance().programs() == before);
    }
}
