// SPDX-License-Identifier: MIT
// Fuzz target: any bytes as a capture file, for each driver -> every packet view lies inside the file, no crash.
//
//   clang-14 -g -O1 -fsanitize=fuzzer-no-link,address,undefined -I. -c file_error/file_error.c -o file_error.o
//   clang++-14 -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -Imapi-core -Imapi-core/include -I. \
//     -DNETSLICE_GZIP=1 -DNETSLICE_XZ=1 -DNETSLICE_ZSTD=1 -DNETSLICE_BZIP2=1 tests/fuzz/capture_file_fuzz.cpp \
//     mapi-core/drivers/*.cpp mapi-core/drivers/unpack/*.cpp file_error.o -lz -llzma -lzstd -lbz2 -o capture_file_fuzz
//   ./capture_file_fuzz -max_len=4096 CORPUS
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include <mapi/driver.h>

#include "drivers/catalog.hpp"
#include "drivers/unpack/compressor.hpp"

namespace
{
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
    mapi_packet packets[64];
    mapi_batch batch = {};
    volatile uint8_t sink = 0;
    while (driver.read(file, packets, 1 + size % 64, &batch) > 0) {
        for (uint32_t i = 0; i < batch.count; ++i) {
            const mapi_packet &packet = batch.packets[i];
            if (!is_packed && packet.caplen > size)
                abort();
            if (packet.caplen > 0)
                sink = uint8_t(packet.data[0] ^ packet.data[packet.caplen - 1]);
        }
    }
    (void)sink;
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
    for (const mapi_driver *driver : mapi::drivers::catalog())
        read_all(*driver, "/proc/self/fd/" + std::to_string(fd), size, mapi::drivers::find_compressor({data, size}) != nullptr);
    close(fd);
    return 0;
}
