// SPDX-License-Identifier: MIT
// scoped: slices that end wherever their scope is left, and slices whose names are known only at
// run time.
//
//	c++ -std=c++17 -O2 -o scoped scoped.cpp $(pkg-config --cflags --libs nsprobe)
//	nsdump record -w scoped.nsl -- ./scoped
//	nsdump stats scoped.nsl
//
// The arguments are the names of handlers: `./scoped dns http` has slices handler:dns and
// handler:http.  Default: odd, even.
#include <cstdint>
#include <cstdio>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include <nsprobe/probe.h>

namespace
{
using Packet = std::vector<uint8_t>;
constexpr unsigned kPackets = 10000;
constexpr size_t kHeaderBytes = 20;

struct Handler {
    // Created once: creating takes a lock and memory, using it costs what a fixed name does.
    explicit Handler([[maybe_unused]] const std::string &name) // unused with NETSLICE_DISABLE
        : slice(NET_SLICE_CREATE(("handler:" + name).c_str()))
    {
#ifndef NETSLICE_DISABLE // the pointer is NULL there, and START_AT does not use it
        if (!slice)
            throw std::bad_alloc();
#endif
    }

    void handle(const Packet &packet)
    {
        NET_SLICE_START_AT(slice);
        sum = std::accumulate(packet.begin(), packet.end(), sum);
        NET_SLICE_STOP_AT(slice);
    }

    nsp_slice *slice;
    uint64_t sum = 0;
};

// Both returns end the slice, and so would an exception.
bool parse(const Packet &packet, size_t &length)
{
    NET_SLICE_SCOPE(parse);
    if (packet.size() < kHeaderBytes)
        return false;
    length = packet[2] * size_t{256} + packet[3];
    return length == packet.size();
}
} // namespace

int main(int argc, char **argv)
{
    std::vector<Handler> handlers;
    for (int i = 1; i < argc; ++i)
        handlers.emplace_back(argv[i]);
    if (handlers.empty())
        handlers = {Handler("odd"), Handler("even")};

    const Packet whole = {0x45, 0, 0, 40, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
                          0,    0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0};
    const Packet truncated(10);
    unsigned handled = 0;
    for (unsigned number = 0; number < kPackets; ++number) {
        const Packet &packet = number % 5 == 0 ? truncated : whole;
        NET_SLICE_INIT(packet, number, 1, packet.size());
        size_t length = 0;
        if (parse(packet, length))
            handlers[handled++ % handlers.size()].handle(packet);
        NET_SLICE_EXIT(packet);
    }
    uint64_t sum = 0;
    for (const Handler &handler : handlers)
        sum += handler.sum;
    std::printf("handled %u of %u packets, sum %llu\n", handled, kPackets,
                static_cast<unsigned long long>(sum));
    return 0;
}
