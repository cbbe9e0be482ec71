// SPDX-License-Identifier: MIT
// Concurrency: flows are created, connected, read and closed by several threads while packets flow.
#include "support/catch.hpp"

#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include <mapi/mapi.h>

#include "mapi-core/capture_builder.hpp"
#include "support/temp_dir.hpp"

using test_support::CaptureBuilder;
using test_support::udp_frame;

namespace
{
// Catch2's macros are not thread-safe; a failure is recorded and checked at the end.
std::atomic<int> failures;

void expect(bool condition)
{
    failures += !condition;
}

uint64_t value(int fd, int fid)
{
    const auto *count = static_cast<uint64_t *>(mapi_read_results(fd, fid, MAPI_REF));
    expect(count != nullptr);
    return count ? *count : 0;
}

void churn(int seed, std::atomic<bool> *stop)
{
    const char *filters[] = {"udp", "src port 2001", "udp and dst port 53"};
    for (int round = seed; !stop->load(); ++round) {
        const int fd = mapi_create_flow("replay");
        const int all = mapi_apply_function(fd, "PKT_COUNTER");
        expect(mapi_apply_function(fd, "BPF_FILTER", filters[round % 3]) > 0);
        const int passed = mapi_apply_function(fd, "PKT_COUNTER");
        const int buffer = round % 2 ? mapi_apply_function(fd, "TO_BUFFER", NOWAIT) : 0;
        expect(mapi_connect(fd) == 0);
        uint64_t last = 0;
        for (int i = 0; i < 50; ++i) {
            const uint64_t some = value(fd, passed);
            const uint64_t every = value(fd, all);
            expect(some <= every); // read later, so at least as many
            expect(every >= last);
            expect(every < uint64_t(1) << 40); // a wrong base would wrap around
            last = every;
            if (buffer) {
                const mapipkt *packet = mapi_get_next_pkt(fd, buffer);
                expect(!packet || (packet->caplen >= 42 && packet->caplen < 100));
            }
        }
        expect(mapi_close_flow(fd) == 0);
    }
}
} // namespace

TEST_CASE("flows are created and closed by several threads while packets flow",
          "[mapi-core][stress]")
{
    const test_support::TempDir dir;
    CaptureBuilder capture;
    capture.pcap_header();
    for (uint32_t i = 0; i < 1000; ++i) {
        const std::string frame = udp_frame(uint16_t(2000 + i % 4), 53, std::string(i % 50, 'x'));
        capture.pcap_record(frame, 60, i);
    }
    const std::string config = dir / "mapi.conf";
    std::ofstream(config) << "[driver]\ndevice=replay\nrepeat=forever\nbatch=16\npath="
                          << capture.write(dir / "x.pcap") << "\n";
    setenv("MAPI_CONF", config.c_str(), 1);
    const int keeper = mapi_create_flow("replay");
    const int counter = mapi_apply_function(keeper, "PKT_COUNTER");
    REQUIRE(mapi_connect(keeper) == 0);

    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (int seed = 0; seed < 4; ++seed)
        threads.emplace_back(churn, seed, &stop);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    stop = true;
    for (std::thread &thread : threads)
        thread.join();

    CHECK(failures == 0);
    CHECK(value(keeper, counter) > 0);
    CHECK(mapi_close_flow(keeper) == 0);
}

TEST_CASE("a waiting reader is woken when its flow is closed by another thread",
          "[mapi-core][stress]")
{
    const test_support::TempDir dir;
    CaptureBuilder capture;
    capture.pcap_header().pcap_record(udp_frame(1, 2, "x"), 60);
    char *device = mapi_create_offline_device(capture.write(dir / "x.pcap").c_str(), MFF_PCAP);
    const int fd = mapi_create_flow(device);
    const int buffer = mapi_apply_function(fd, "TO_BUFFER", WAIT);
    REQUIRE(mapi_connect(fd) == 0); // never started: no packet arrives
    std::thread reader([&] { expect(mapi_get_next_pkt(fd, buffer) == nullptr); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(mapi_close_flow(fd) == 0);
    reader.join();
    CHECK(failures == 0);
    CHECK(mapi_delete_offline_device(device) == 0);
}
