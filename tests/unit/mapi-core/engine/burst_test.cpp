// SPDX-License-Identifier: MIT
// Bursts: what one turn takes from a driver, and that the burst size changes no result.
#include "support/catch.hpp"

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "drivers/catalog.hpp"
#include "engine/flow.hpp"
#include "engine/packet_path/burst.hpp"
#include "engine/packet_path/device.hpp"
#include "functions/catalog.hpp"
#include "mapi-core/capture_builder.hpp"
#include "mapi-core/drivers/erf_builder.hpp"
#include "mapi-core/drivers/read_capture.hpp"
#include "mapi-core/engine/function_table.hpp"
#include "support/temp_dir.hpp"

using mapi::engine::Argument;
using mapi::engine::BurstBuffer;
using mapi::engine::Device;
using mapi::engine::Flow;
using test_support::CaptureBuilder;
using test_support::Packet;
using test_support::TempDir;

namespace
{
// Returns scripted answers, and records the limits that it was asked for.
struct Script {
    std::deque<int> answers;
    std::vector<uint32_t> limits;

    static int read(void *source, mapi_packet *packets, uint32_t limit, mapi_batch *batch)
    {
        Script &self = *static_cast<Script *>(source);
        self.limits.push_back(limit);
        const int answer = self.answers.front();
        self.answers.pop_front();
        for (int i = 0; i < answer; ++i)
            packets[i] = {nullptr, 0, 100, uint64_t(i), 1, 0, 0};
        mapi_batch_fill(batch, packets, uint32_t(std::max(answer, 0)));
        return answer;
    }
    static mapi_driver driver(bool has_more)
    {
        mapi_driver driver = {};
        driver.read = read;
        driver.read_more = has_more ? read : nullptr;
        return driver;
    }
};

std::vector<uint32_t> sizes(const BurstBuffer &burst)
{
    std::vector<uint32_t> sizes;
    for (const mapi_batch &batch : burst.batches())
        sizes.push_back(batch.count);
    return sizes;
}

// Copies only once a burst is complete: its first packets must still be there.
std::vector<Packet> read_in_bursts(const mapi_driver &driver, const std::string &path,
                                   uint32_t limit, int &last)
{
    char text[512] = "";
    mapi_driver_setup setup = {};
    setup.struct_size = sizeof(setup);
    setup.path = path.c_str();
    setup.repeat = 2;
    setup.error = text;
    setup.error_bytes = sizeof(text);
    void *source = nullptr;
    mapi_driver_info info = {};
    REQUIRE(driver.open(&setup, &source, &info) == 0);
    const auto burst = std::make_unique<BurstBuffer>();
    std::vector<Packet> packets;
    while ((last = burst->read(driver, source, limit)) > 0) {
        uint32_t count = 0;
        for (const mapi_batch &batch : burst->batches()) {
            for (uint32_t i = 0; i < batch.count; ++i) {
                const mapi_packet &p = batch.packets[i];
                packets.push_back({std::string(reinterpret_cast<const char *>(p.data), p.caplen),
                                   p.wire_len, p.timestamp_ns, p.link_type, p.ifindex});
            }
            count += batch.count;
        }
        CHECK(count == uint32_t(last));
        CHECK(count <= limit);
    }
    driver.close(source);
    return packets;
}

std::string frame(std::mt19937 &random)
{
    return std::string(random() % 40 ? random() % 1500 : random() % 60000, char(random()));
}

// Larger than any buffer; other kinds of blocks and a second section between the packets.
CaptureBuilder pcapng(std::mt19937 &random)
{
    CaptureBuilder capture;
    for (int section = 0; section < 2; ++section) {
        capture.section().interface(1).interface(101, 500);
        for (uint32_t i = 0; i < 2500; ++i) {
            capture.enhanced(i % 2, i, frame(random), 70000);
            if (random() % 300 == 0)
                capture.block(5, capture.part().u32(0).u32(0).u32(0).bytes());
        }
    }
    return capture;
}

CaptureBuilder pcap(std::mt19937 &random)
{
    CaptureBuilder capture;
    capture.pcap_header();
    for (uint32_t i = 0; i < 5000; ++i)
        capture.pcap_record(frame(random), 70000, i);
    return capture;
}

CaptureBuilder erf(std::mt19937 &random)
{
    CaptureBuilder capture;
    for (uint32_t i = 0; i < 5000; ++i) {
        const uint8_t type = random() % 200 == 0 ? 27 : 2; // one without a frame
        capture.text(test_support::Erf{
            .type = type, .wire_len = 65000, .seconds = 1500000000 + i, .frame = frame(random)}
                         .bytes());
    }
    return capture;
}

void check_same(const mapi_driver &driver, const std::string &path)
{
    const auto single = test_support::read_capture(driver, path, 64, 2);
    CHECK(single.packets.size() > 5000);
    for (const uint32_t limit : {1u, 64u, 65u, 200u, 256u, 512u}) {
        int last = 0;
        CHECK(read_in_bursts(driver, path, limit, last) == single.packets);
        CHECK(last == single.last);
    }
}

// Packets to 16 ports, containing letters.
CaptureBuilder port_capture()
{
    std::mt19937 random(11);
    CaptureBuilder capture;
    capture.pcap_header();
    for (uint32_t i = 0; i < 3001; ++i) {
        std::string packet(64, '\0');
        packet[12] = 8; // IPv4, UDP
        packet[14] = 0x45;
        packet[23] = 17;
        packet[37] = char(random() % 16); // low byte of the destination port
        packet[50 + random() % 10] = char('a' + random() % 16);
        capture.pcap_record(packet, 100, i);
    }
    return capture;
}

struct Counter {
    std::shared_ptr<Flow> flow;
    int fid;
};

// Filters and strings run in node groups, each followed by a counter.
std::vector<Counter> apply_filters(const std::shared_ptr<Device> &device)
{
    std::vector<Counter> counters;
    for (int n = 0; n < 16; ++n) {
        const auto flow = std::make_shared<Flow>(device);
        flow->apply(mapi_fn_bpf_filter,
                    {Argument{'s', 0, "udp dst port " + std::to_string(n), {}}});
        counters.push_back({flow, flow->apply(mapi_fn_pkt_counter, {})});
        flow->apply(mapi_fn_str_search, {Argument{'s', 0, std::string(1, char('a' + n)), {}},
                                         Argument{'i', 0, "", {}}, Argument{'i', 0, "", {}}});
        counters.push_back({flow, flow->apply(mapi_fn_pkt_counter, {})});
    }
    return counters;
}

std::vector<uint64_t> count(const std::string &path, unsigned burst_packets, bool has_reference)
{
    mapi::engine::DeviceSettings settings;
    settings.name = settings.path = path;
    settings.batch = burst_packets;
    const auto device = std::make_shared<Device>(1, settings, mapi_driver_pcap_file, false);
    std::vector<Counter> counters = apply_filters(device);
    if (has_reference) {
        const std::shared_ptr<Flow> flow = counters.front().flow;
        const int bytes = flow->apply(mapi_fn_byte_counter, {});
        flow->apply(mapi_fn_stats,
                    {Argument{'r', 1, "", {}}, Argument{'f', bytes, "", {flow->target(bytes)}},
                     Argument{'s', 0, "0", {}}});
        counters.push_back({flow, bytes});
    }
    for (const Counter &counter : counters) {
        if (!counter.flow->is_connected())
            counter.flow->connect();
    }
    device->start();
    std::vector<uint64_t> counts;
    for (const Counter &counter : counters) {
        counter.flow->wait_for_end(-1);
        counts.push_back(
            *static_cast<const uint64_t *>(counter.flow->read_results(counter.fid)->res));
    }
    for (const Counter &counter : counters)
        counter.flow->close();
    return counts;
}
// Appends a letter for each batch that it gets.
class Noting
{
public:
    explicit Noting(char letter, uint32_t ring_flags) : letter_(letter), ring_flags_(ring_flags)
    {
        table_.flags = MAPI_FUNCTION_PACKETS_IN_RING;
        table_.create = create;
        table_.process = process;
        table_.destroy = [](void *) {};
    }
    void apply_to(Flow &flow)
    {
        flow.apply(table_, {Argument{'l', int64_t(reinterpret_cast<intptr_t>(this)), "", {}}});
    }

    static std::string letters;

private:
    static int create(const mapi_function_setup *setup, void **instance)
    {
        auto *self = reinterpret_cast<Noting *>(intptr_t(setup->arguments[0].number));
        const mapi_ring_options options = {self->ring_flags_, 0, 4096, 0, 0};
        setup->ring->make(setup, &options);
        *instance = self;
        return 0;
    }
    static uint64_t process(void *instance, const mapi_batch *, uint64_t mask)
    {
        letters += static_cast<Noting *>(instance)->letter_;
        return mask;
    }

    const char letter_;
    const uint32_t ring_flags_;
    mapi_function table_ = test_support::function_table("NOTING", "l"); // `this` as a number
};
std::string Noting::letters;

// The order in which the functions of two flows get the batches of a 256-packet capture.
std::string order_of_batches(uint32_t first_ring, uint32_t second_ring)
{
    const TempDir dir;
    CaptureBuilder capture;
    capture.pcap_header();
    for (uint32_t i = 0; i < 256; ++i)
        capture.pcap_record("abcd", 60, i);
    mapi::engine::DeviceSettings settings;
    settings.name = settings.path = capture.write(dir / "x.pcap");
    const auto device = std::make_shared<Device>(1, settings, mapi_driver_pcap_file, false);
    Noting::letters.clear();
    Noting first('a', first_ring), second('b', second_ring);
    const auto one = std::make_shared<Flow>(device), other = std::make_shared<Flow>(device);
    first.apply_to(*one);
    second.apply_to(*other);
    one->connect();
    other->connect();
    device->start();
    one->wait_for_end(-1);
    other->wait_for_end(-1);
    one->close();
    other->close();
    return Noting::letters;
}
} // namespace

TEST_CASE("a function takes all batches of a burst before the next function starts",
          "[mapi-core][engine]")
{
    CHECK(order_of_batches(0, 0) == "aaaabbbb");
    CHECK(order_of_batches(0, MAPI_RING_WRITER_WAITS) == "aaaabbbb");
}

TEST_CASE("functions that wait for their readers alternate batches, so one reader can serve both",
          "[mapi-core][engine]")
{
    CHECK(order_of_batches(MAPI_RING_WRITER_WAITS, MAPI_RING_WRITER_WAITS) == "abababab");
}

TEST_CASE("a burst has the batches that are available immediately, up to its limit",
          "[mapi-core][engine]")
{
    const mapi_driver driver = Script::driver(true);
    BurstBuffer burst;
    Script more{{64, 64, 64, 64, 64}, {}};
    CHECK(burst.read(driver, &more, 256) == 256);
    CHECK(sizes(burst) == std::vector<uint32_t>{64, 64, 64, 64});
    CHECK(burst.wire_bytes() == 25600);
    Script full{{64, 64, 64, 64, 64, 64, 64, 64, 64, 0}, {}};
    CHECK(burst.read(driver, &full, 512) == 512);
    CHECK(sizes(burst) == std::vector<uint32_t>(8, 64));
    CHECK(burst.read(driver, &full, 512) == 64);
    Script partly{{64, 36}, {}};
    CHECK(burst.read(driver, &partly, 100) == 100);
    CHECK(partly.limits == std::vector<uint32_t>{64, 36});
    CHECK(burst.last_timestamp_ns() == 35);
    Script one{{1}, {}};
    CHECK(burst.read(driver, &one, 1) == 1);
}

TEST_CASE("a burst ends when a driver has no more packets without another read",
          "[mapi-core][engine]")
{
    BurstBuffer burst;
    for (const int more : {0, -1, MAPI_DRIVER_IDLE}) {
        Script script{{64, 64, more}, {}};
        CHECK(burst.read(Script::driver(true), &script, 256) == 128);
        CHECK(sizes(burst) == std::vector<uint32_t>{64, 64});
    }
    Script few{{63}, {}};
    CHECK(burst.read(Script::driver(true), &few, 256) == 63);
    Script without{{64}, {}};
    CHECK(burst.read(Script::driver(false), &without, 256) == 64);
    for (const int none : {0, -1, MAPI_DRIVER_IDLE}) {
        Script script{{none}, {}};
        CHECK(burst.read(Script::driver(true), &script, 256) == none);
        CHECK(burst.batches().empty());
    }
}

TEST_CASE("bursts have the same packets of a capture as single batches", "[mapi-core][engine]")
{
    const TempDir dir;
    std::mt19937 random(7);
    check_same(mapi_driver_pcap_file, pcap(random).write(dir / "x.pcap"));
    check_same(mapi_driver_pcap_file, pcapng(random).write(dir / "x.pcapng"));
    check_same(mapi_driver_erf_file, erf(random).write(dir / "x.erf"));
}

TEST_CASE("bursts have what is complete before damage, and the damage is reported after it",
          "[mapi-core][engine]")
{
    const TempDir dir;
    const bool is_cut = GENERATE(false, true);
    CaptureBuilder capture;
    capture.pcap_header();
    for (uint32_t i = 0; i < 150; ++i)
        capture.pcap_record("abcd", 60, i);
    is_cut ? capture.text("half a record")
           : capture.u32(1).u32(1).u32(0xffffffff).u32(60).text(std::string(100, 'x'));
    int last = 0;
    CHECK(read_in_bursts(mapi_driver_pcap_file, capture.write(dir / "x.pcap"), 256, last).size() ==
          150);
    CHECK(last == -1);
}

// STATS refers to another function, so its device processes batches one at a time.
TEST_CASE("the results of flows do not depend on the size of a burst", "[mapi-core][engine]")
{
    const bool has_reference = GENERATE(false, true);
    const TempDir dir;
    const std::string path = port_capture().write(dir / "x.pcap");
    const std::vector<uint64_t> wanted = count(path, 1, has_reference);
    CHECK(wanted.front() > 100);
    for (const unsigned packets : {64u, 100u, 256u, 512u})
        CHECK(count(path, packets, has_reference) == wanted);
}
