// SPDX-License-Identifier: MIT
// Large captures: files that are read ahead, compared with the same files read in place.
#pragma once

#include <random>
#include <string>
#include <thread>

#include <sched.h>

#include "drivers/catalog.hpp"
#include "mapi-core/capture_builder.hpp"
#include "mapi-core/drivers/read_capture.hpp"
#include "support/catch.hpp"

namespace test_support
{
constexpr size_t kLargeBytes = size_t(48) << 20; // so that the read-ahead thread gets to run

inline bool has_two_processors()
{
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof(processors), &processors) == 0 && CPU_COUNT(&processors) > 1;
}

// No read-ahead happens for a thread that may run on only one CPU.
inline Outcome read_in_place(const mapi_driver &driver, const std::string &path,
                             uint64_t repeat = 1)
{
    Outcome outcome;
    std::thread([&] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        sched_setaffinity(0, sizeof(one), &one);
        outcome = read_capture(driver, path, 64, repeat);
    }).join();
    return outcome;
}

inline void check_same(const Outcome &ahead, const Outcome &in_place, bool is_packed = false)
{
    CHECK((ahead.packets == in_place.packets)); // not printed, because it is long
    CHECK(ahead.wire_bytes == in_place.wire_bytes);
    CHECK(ahead.last == in_place.last);
    CHECK(ahead.stats.bad_records == in_place.stats.bad_records);
    CHECK(ahead.stats.truncated_records == in_place.stats.truncated_records);
    if (!is_packed) // packed: counts unpacked bytes not taken, then packed bytes
        CHECK(ahead.stats.unread_bytes == in_place.stats.unread_bytes);
    CHECK(std::string(ahead.stats.message) == in_place.stats.message);
}

// Packets of random sizes, each of one repeated byte after the first four; a very large one in the
// middle.
template <class Add> void add_packets(std::mt19937 &random, size_t bytes, Add add)
{
    for (size_t i = 0, sum = 0; sum < bytes; ++i) {
        const size_t size = i == 5000 ? 262144 : random() % 1500;
        add(std::string(size, char(random())));
        sum += size;
    }
}

inline std::string large_pcap(unsigned seed = 1)
{
    CaptureBuilder capture;
    std::mt19937 random(seed);
    capture.pcap_header(0xa1b2c3d4, 262144);
    add_packets(random, kLargeBytes,
                [&](const std::string &data) { capture.pcap_record(data, uint32_t(data.size())); });
    return capture.bytes();
}

struct OpenCapture {
    explicit OpenCapture(const std::string &path)
    {
        mapi_driver_setup setup = {};
        setup.struct_size = sizeof(setup);
        setup.path = path.c_str();
        setup.repeat = 1;
        mapi_driver_info info = {};
        REQUIRE(mapi_driver_pcap_file.open(&setup, &file, &info) == 0);
    }
    ~OpenCapture() { mapi_driver_pcap_file.close(file); }
    int read()
    {
        mapi_packet packets[64];
        mapi_batch batch = {};
        return mapi_driver_pcap_file.read(file, packets, 64, &batch);
    }
    void *file = nullptr;
};
} // namespace test_support
