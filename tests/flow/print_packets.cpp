// SPDX-License-Identifier: MIT
// print_packets DRIVER FILE: a file -> one line per packet: time in ns, bytes on the wire, captured
// bytes, link type, FNV-1a of the captured bytes; at the end the driver's message.
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "drivers/catalog.hpp"

namespace
{
uint64_t hash_of(const mapi_packet &packet)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (uint32_t i = 0; i < packet.caplen; ++i)
        hash = (hash ^ packet.data[i]) * 0x100000001b3;
    return hash;
}

int print(const mapi_driver &driver, const char *path)
{
    char text[512] = "";
    mapi_driver_setup setup = {};
    setup.struct_size = sizeof(setup);
    setup.path = path;
    setup.repeat = 1;
    setup.error = text;
    setup.error_bytes = sizeof(text);
    void *file = nullptr;
    mapi_driver_info info = {};
    if (driver.open(&setup, &file, &info) != 0) {
        std::fprintf(stderr, "%s\n", text);
        return 1;
    }
    mapi_packet packets[MAPI_BATCH_MAX];
    mapi_batch batch = {};
    while (driver.read(file, packets, MAPI_BATCH_MAX, &batch) > 0) {
        for (uint32_t i = 0; i < batch.count; ++i)
            std::printf("%" PRIu64 "\t%u\t%u\t%u\t%016" PRIx64 "\n", packets[i].timestamp_ns,
                        packets[i].wire_len, packets[i].caplen, packets[i].link_type,
                        hash_of(packets[i]));
    }
    mapi_driver_stats stats = {};
    driver.stats(file, &stats);
    driver.close(file);
    std::fprintf(stderr, "%s\n", stats.message);
    return 0;
}
} // namespace

int main(int count, char **arguments)
{
    for (const mapi_driver *driver : mapi::drivers::catalog()) {
        if (count == 3 && std::strcmp(driver->name, arguments[1]) == 0)
            return print(*driver, arguments[2]);
    }
    std::fputs("print_packets DRIVER FILE\n", stderr);
    return 2;
}
