// SPDX-License-Identifier: MIT
// Read capture: a driver and a file -> copies of all its packets, and the driver's messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <mapi/driver.h>

#include "support/catch.hpp"

namespace test_support
{
struct Packet {
    std::string data;
    uint32_t wire_len;
    uint64_t timestamp_ns;
    uint16_t link_type;
    uint16_t ifindex;

    bool operator==(const Packet &) const = default;
};

struct Outcome {
    int open_error = 0;
    std::string open_text;
    std::vector<Packet> packets;
    std::vector<uint32_t> batches;    // number of packets in each
    std::vector<uint16_t> link_types; // of each batch
    uint64_t wire_bytes = 0;
    int last = 0; // return value of the last read()
    mapi_driver_stats stats = {};
    mapi_driver_info info = {};
};

inline Outcome read_capture(const mapi_driver &driver, const std::string &path, uint32_t limit = 64,
                            uint64_t repeat = 1, size_t packets_max = SIZE_MAX,
                            const mapi_memory *memory = nullptr)
{
    Outcome outcome;
    char text[512] = "";
    mapi_driver_setup setup = {};
    setup.struct_size = sizeof(setup);
    setup.path = path.c_str();
    setup.repeat = repeat;
    setup.memory = memory;
    setup.error = text;
    setup.error_bytes = sizeof(text);
    void *file = nullptr;
    outcome.open_error = driver.open(&setup, &file, &outcome.info);
    outcome.open_text = text;
    if (outcome.open_error)
        return outcome;
    mapi_packet packets[64];
    mapi_batch batch = {};
    while (outcome.packets.size() < packets_max &&
           (outcome.last = driver.read(file, packets, limit, &batch)) > 0) {
        for (uint32_t i = 0; i < batch.count; ++i) {
            const mapi_packet &p = batch.packets[i];
            outcome.packets.push_back(
                {std::string(reinterpret_cast<const char *>(p.data), p.caplen), p.wire_len,
                 p.timestamp_ns, p.link_type, p.ifindex});
        }
        outcome.batches.push_back(batch.count);
        outcome.link_types.push_back(batch.link_type);
        outcome.wire_bytes += batch.wire_bytes;
        REQUIRE(batch.count == uint32_t(outcome.last));
        REQUIRE(batch.count <= limit);
    }
    driver.stats(file, &outcome.stats);
    driver.close(file);
    return outcome;
}
} // namespace test_support
