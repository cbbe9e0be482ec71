// SPDX-License-Identifier: MIT
// Fuzz target: any bytes as a capture file, for each file driver -> every packet view lies inside
// the file, no crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include <mapi/driver.h>

#include "drivers/catalog.hpp"
#include "drivers/unpack/compressor.hpp"
#include "engine/packet_path/burst.hpp"

namespace
{
void touch(const mapi_batch &batch, size_t longest)
{
    volatile uint8_t sink = 0;
    for (uint32_t i = 0; i < batch.count; ++i) {
        const mapi_packet &packet = batch.packets[i];
        if (packet.caplen > longest)
            abort();
        if (packet.caplen > 0)
            sink = uint8_t(packet.data[0] ^ packet.data[packet.caplen - 1]);
    }
    (void)sink;
}

void read_all(const mapi_driver &driver, const std::string &path, size_t size, bool is_packed)
{
    char text[512];
    mapi_driver_setup setup = {};
    setup.struct_size = sizeof(setup);
    setup.path = path.c_str();
    setup.repeat = 1 + (size & 1);
    setup.error = text;
    setup.error_bytes = sizeof(text);
    void *file = nullptr;
    mapi_driver_info info = {};
    if (driver.open(&setup, &file, &info) != 0)
        return;
    static mapi::engine::BurstBuffer burst;
    while (burst.read(driver, file, 1 + uint32_t(size % mapi::engine::kBurstPackets)) > 0) {
        for (const mapi_batch &batch : burst.batches())
            touch(batch, is_packed ? SIZE_MAX : size);
    }
    mapi_driver_stats stats = {};
    driver.stats(file, &stats);
    driver.close(file);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("capture", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != ssize_t(size))
        abort();
    for (const mapi_driver *driver : {&mapi_driver_pcap_file, &mapi_driver_erf_file})
        read_all(*driver, "/proc/self/fd/" + std::to_string(fd), size,
                 mapi::drivers::find_compressor({data, size}) != nullptr);
    close(fd);
    return 0;
}
