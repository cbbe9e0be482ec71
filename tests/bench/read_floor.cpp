// SPDX-License-Identifier: MIT
// The minimum cost of reading a capture: read() into one buffer, on its own, with a visit to each
// record, and by two threads -> seconds of each, one per line.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace
{
constexpr size_t kFileHeaderBytes = 24, kRecordHeaderBytes = 16,
                 kProtocolAt = 23;                // in Ethernet frames with IPv4
constexpr size_t kPieceBytes = size_t(128) << 10; // as in the driver
constexpr size_t kRoomBytes = size_t(256) << 10;  // for the rest of the previous piece

double now_s()
{
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

// Visits complete records; the rest stays in the buffer.
const uint8_t *walk(const uint8_t *at, const uint8_t *end, uint64_t &tcp)
{
    while (size_t(end - at) >= kRecordHeaderBytes) {
        uint32_t caplen = 0;
        std::memcpy(&caplen, at + 8, sizeof(caplen));
        if (size_t(end - at) - kRecordHeaderBytes < caplen)
            break;
        tcp += caplen > kProtocolAt && at[kRecordHeaderBytes + kProtocolAt] == 6;
        at += kRecordHeaderBytes + caplen;
    }
    return at;
}

double read_s(int file, bool walks, uint64_t &tcp)
{
    std::vector<uint8_t> memory(kRoomBytes + kPieceBytes);
    uint8_t *const piece = memory.data() + kRoomBytes;
    const double begin = now_s();
    size_t rest = 0;
    ssize_t got;
    for (off_t at = kFileHeaderBytes; (got = pread(file, piece, kPieceBytes, at)) > 0; at += got) {
        if (!walks)
            continue;
        const uint8_t *const end = piece + got;
        const uint8_t *const left = walk(piece - rest, end, tcp);
        rest = std::min(size_t(end - left), kRoomBytes);
        std::memmove(piece - rest, end - rest, rest);
    }
    return now_s() - begin;
}

// Reads pieces in turn, into as many buffers as the driver's threads have.
double read_by_two_s(int file)
{
    constexpr size_t kBuffers = 4;
    std::atomic<off_t> next = kFileHeaderBytes;
    const auto read_pieces = [&] {
        std::vector<uint8_t> memory(kBuffers * kPieceBytes);
        for (size_t i = 0; pread(file, memory.data() + i++ % kBuffers * kPieceBytes, kPieceBytes,
                                 next.fetch_add(kPieceBytes)) > 0;) {
        }
    };
    const double begin = now_s();
    std::thread other(read_pieces);
    read_pieces();
    other.join();
    return now_s() - begin;
}
} // namespace

int main(int argc, char **argv)
{
    const int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0) {
        std::fprintf(stderr, "usage: read_floor CAPTURE (a pcap file)\n");
        return 2;
    }
    uint64_t tcp = 0;
    const double alone_s = read_s(file, false, tcp);
    const double walked_s = read_s(file, true, tcp);
    std::printf("%.6f\n%.6f\n%.6f\n", alone_s, walked_s, read_by_two_s(file));
    close(file);
    return tcp == UINT64_MAX; // keeps the compiler from removing the loop
}
