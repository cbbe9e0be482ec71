// SPDX-License-Identifier: MIT
// Offload: samples, values of the last packet, and cut packets are the same in driver and engine.
#include "engine/packet_path/offload.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <mapi/mapi.h>
#include <mapi/pktinfo.h>
#include <mapi/sample.h>

#include "engine/flow.hpp"
#include "engine/packet_path/device.hpp"
#include "functions/catalog.hpp"
#include "functions/common/ntp_time.hpp"
#include "mapi-core/engine/offload_driver.hpp"
#include "support/catch.hpp"

using mapi::engine::Argument;
using mapi::engine::Arguments;
using mapi::engine::Device;
using mapi::engine::Flow;
using test_support::Frame;
using test_support::OffloadSource;

namespace
{
constexpr char kInDriver[] = "adapter";

Argument number(int64_t value)
{
    return {'i', value, {}, {}};
}
Argument text(const std::string &value)
{
    return {'s', 0, value, {}};
}

std::shared_ptr<Device> make_device()
{
    mapi::engine::DeviceSettings settings;
    settings.name = "offload";
    return std::make_shared<Device>(1, settings, OffloadSource::table(), true);
}

struct Function {
    const mapi_function &table;
    Arguments arguments = {};
};

class Functions
{
public:
    Functions(const std::shared_ptr<Device> &device, std::vector<Function> functions,
              uint32_t snap_bytes = 0)
        : flow_(std::make_shared<Flow>(device))
    {
        if (snap_bytes > 0)
            flow_->set_option(MAPI_SNAP_BYTES, snap_bytes);
        for (Function &function : functions)
            flow_->apply(function.table, std::move(function.arguments));
        flow_->connect();
    }
    ~Functions() { flow_->close(); }
    Functions(const Functions &) = delete;
    Functions &operator=(const Functions &) = delete;

    Flow &flow() const { return *flow_; }
    std::string place(int function) const
    {
        mapi_function_info_t info = {};
        flow_->describe(function, &info);
        return info.place;
    }
    uint64_t value(int function) const
    {
        return *static_cast<uint64_t *>(flow_->read_results(function)->res);
    }
    bool comes_to(int function, uint64_t expected) const
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (value(function) != expected) {
            if (std::chrono::steady_clock::now() > end)
                return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return true;
    }

private:
    const std::shared_ptr<Flow> flow_;
};

std::vector<Function> sample_of(int64_t period)
{
    return {{mapi_fn_sample, {number(period), number(PERIODIC)}}, {mapi_fn_pkt_counter}};
}

void arrive(int packets, size_t bytes = 60)
{
    for (int i = 0; i < packets; ++i)
        OffloadSource::instance().arrive(Frame(bytes, 0));
}
} // namespace

TEST_CASE("the driver's only interface has the number 0", "[mapi-core][engine]")
{
    const auto device = make_device();
    Functions zero(device, {{mapi_fn_interface, {number(0)}}, {mapi_fn_pkt_counter}});
    Functions one(device, {{mapi_fn_interface, {number(1)}}, {mapi_fn_pkt_counter}});
    arrive(5);
    CHECK(zero.comes_to(2, 5));
    CHECK(one.comes_to(2, 0));
    CHECK(zero.place(1) == kInDriver);
    CHECK(one.place(2) == kInDriver);
}

TEST_CASE("the driver samples for each flow from its connection on, while others come and go",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    Functions first(device, sample_of(4));
    CHECK(first.place(1) == kInDriver);
    arrive(3);
    Functions second(device, sample_of(4));
    arrive(1); // number 4 of the first flow, number 1 of the second
    CHECK(first.comes_to(2, 1));
    CHECK(second.comes_to(2, 0));
    for (int round = 0; round < 8; ++round) {
        Functions other(device, sample_of(round + 1));
        arrive(3);
        CHECK(other.comes_to(2, 3 / uint64_t(round + 1)));
    }
    CHECK(first.comes_to(2, 7));  // 28 packets
    CHECK(second.comes_to(2, 6)); // 25 packets
}

TEST_CASE("a reset of a sample in the driver restarts its period", "[mapi-core][engine]")
{
    const auto device = make_device();
    Functions sampled(device, sample_of(4));
    Functions other(device, sample_of(4));
    arrive(3);
    sampled.flow().reset(1);
    arrive(3);
    CHECK(other.comes_to(2, 1));
    CHECK(sampled.comes_to(2, 0));
    arrive(1);
    CHECK(sampled.comes_to(2, 1));
    sampled.flow().reset(2); // of the counter only
    arrive(4);
    CHECK(sampled.comes_to(2, 1));
    CHECK(other.comes_to(2, 2));
}

TEST_CASE("a reset is complete with the first program that was made after it",
          "[mapi-core][engine]")
{
    OffloadSource &source = OffloadSource::instance();
    const auto wait_until = [](const auto &is_so) {
        while (!is_so())
            std::this_thread::yield();
    };
    const auto device = make_device();
    Functions sampled(device, sample_of(4));
    Functions reads(device, {{mapi_fn_regexp, {text("x")}}});
    arrive(2);
    source.hold(true);
    arrive(1); // the next program waits until this packet has been read
    const size_t switches = source.switches(), made = source.made();
    std::optional<Functions> other;
    std::thread connects([&] { other.emplace(device, sample_of(4)); });
    wait_until([&] { return source.switches() > switches; });
    std::atomic<bool> is_complete = false;
    std::thread resets([&] {
        sampled.flow().reset(1);
        is_complete = true;
    });
    wait_until([&] { return source.made() == made + 2; });
    source.hold_switches(true);
    source.hold(false);
    connects.join(); // with the program that was made before the reset
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(!is_complete);
    source.hold_switches(false);
    resets.join();
    arrive(3);
    CHECK(sampled.comes_to(2, 0));
}

TEST_CASE("a sample that the driver no longer takes continues in the engine, and stays there",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    Functions sampled(device, sample_of(4));
    arrive(7);
    CHECK(sampled.comes_to(2, 1));
    OffloadSource::instance().refuse_all(true);
    {
        Functions other(device, {{mapi_fn_pkt_counter}});
        CHECK(sampled.place(1) != kInDriver);
        arrive(1); // number 8
        CHECK(sampled.comes_to(2, 2));
        arrive(3);
        CHECK(other.comes_to(1, 4));
    }
    OffloadSource::instance().refuse_all(false);
    Functions other(device, {{mapi_fn_pkt_counter}});
    CHECK(other.place(1) == kInDriver);
    CHECK(sampled.place(1) == "engine: it has begun to count there");
    arrive(1); // number 12
    CHECK(sampled.comes_to(2, 3));
}

TEST_CASE("the time and length of the last packet come from the driver", "[mapi-core][engine]")
{
    const auto device = make_device();
    const Function size = {mapi_fn_pktinfo, {number(PKT_SIZE)}};
    Functions all(device, {size, {mapi_fn_pktinfo, {number(PKT_TS)}}, {mapi_fn_pkt_counter}});
    Functions none(device, {{mapi_fn_bpf_filter, {text("tcp")}}, size});
    CHECK(all.place(1) == kInDriver);
    CHECK(all.place(2) == kInDriver);
    CHECK(none.place(2) == kInDriver);
    arrive(2, 60);
    arrive(1, 77);
    CHECK(all.comes_to(1, 77));
    CHECK(all.comes_to(2, mapi::functions::ntp_time(OffloadSource::instance().arrived())));
    { // remains in the next program, which has seen no packet
        Functions other(device, {size});
        CHECK(other.value(1) == 0); // before its first packet, as in the engine
        CHECK(all.value(1) == 77);
        arrive(1, 78);
        CHECK(other.comes_to(1, 78));
    }
    CHECK(all.comes_to(1, 78));
    CHECK(none.value(2) == 0);
}

TEST_CASE("statistics of a value stay in the engine and say why, as does the value",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const auto flow = std::make_shared<Flow>(device);
    const int size = flow->apply(mapi_fn_pktinfo, {number(PKT_SIZE)});
    const Arguments arguments = {
        {'r', 0, {}, {}}, {'f', size, {}, {flow->target(size)}}, text("1")};
    const int stats = flow->apply(mapi_fn_stats, arguments);
    flow->connect();
    const auto place = [&](int function) {
        mapi_function_info_t info = {};
        flow->describe(function, &info);
        return std::string(info.place);
    };
    CHECK(place(stats) ==
          "engine: it needs each packet's time, and another function's result as of "
          "that packet");
    CHECK(place(size) == "engine: it is measured, or its result is used by another function");
    flow->close();
}

TEST_CASE("the driver hands over as many bytes of a packet as functions of the engine read",
          "[mapi-core][engine]")
{
    const auto device = make_device();
    const std::vector<Function> buffer = {{mapi_fn_pkt_counter}, {mapi_fn_to_buffer, {Argument{}}}};
    Functions cut(device, buffer, 64);
    const auto caplen = [&](const Functions &functions) {
        arrive(1, 200);
        const mapipkt *packet = functions.flow().next_packet(2);
        REQUIRE(packet);
        CHECK(packet->wlen == 200);
        return packet->caplen;
    };
    CHECK(caplen(cut) == 64);
    CHECK(OffloadSource::instance().last_caplen() == 64);
    {
        Functions cut_later(device, buffer, 100);
        CHECK(caplen(cut_later) == 100);
        CHECK(OffloadSource::instance().last_caplen() == 100);
        CHECK(cut.flow().next_packet(2)->caplen == 64);
        Functions whole(device, buffer);
        CHECK(caplen(whole) == 200);
    }
    { // behind the buffer, in the engine
        Functions searches(device,
                           {{mapi_fn_pkt_counter},
                            {mapi_fn_to_buffer, {Argument{}}},
                            {mapi_fn_regexp, {text("x")}}},
                           64);
        CHECK(caplen(searches) == 64);
        CHECK(OffloadSource::instance().last_caplen() == 200);
    }
}
