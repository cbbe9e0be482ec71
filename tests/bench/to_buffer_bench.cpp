// SPDX-License-Identifier: MIT
// TO_BUFFER across processes: packets of a capture that mapid reads, taken by this process one at a
// time.
#include <cstdint>
#include <cstring>
#include <ctime>
#include <iostream>

#include <mapi/mapi.h>
#include <sys/resource.h>

#include "figure.hpp"

namespace
{
constexpr int kMostAtOnce = 256;

double wall_s()
{
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

bool is_of_mapid(const char *device)
{
    mapi_device_info_t info = {};
    for (int id = 0; mapi_get_next_device_info(id, &info) == 0; id = info.id) {
        if (strcmp(info.device, device) == 0)
            return info.server[0] != 0;
    }
    return false;
}
} // namespace

int main(int argc, char **argv)
{
    char *device = argc == 2 ? mapi_create_offline_device(argv[1], MFF_PCAP) : nullptr;
    if (!device || !is_of_mapid(device)) {
        std::cerr
            << "usage: MAPI_SOCKET=PATH to_buffer_bench CAPTURE, with a mapid listening at PATH\n";
        return 2;
    }
    const int flow = mapi_create_flow(device);
    const int buffer = mapi_apply_function(flow, "TO_BUFFER", WAIT);
    if (buffer < 0 || mapi_connect(flow) < 0 || mapi_start_offline_device(device) < 0)
        return 1;
    mapipkt *packets[kMostAtOnce];
    uint64_t count = 0, bytes = 0;
    const double begin = wall_s();
    for (int got; (got = mapi_get_next_pkts(flow, buffer, packets, kMostAtOnce, -1)) > 0;
         count += uint64_t(got)) {
        for (int i = 0; i < got; ++i)
            bytes += packets[i]->caplen;
    }
    const double seconds = wall_s() - begin;
    mapi_stat stats = {};
    rusage use = {};
    getrusage(RUSAGE_SELF, &use);
    if (mapi_stats(device, &stats) < 0 || stats.ps_recv != count || stats.ps_drop != 0) {
        std::cerr << "of " << stats.ps_recv << " packets " << count << " came\n";
        return 1;
    }
    bench::print(
        {"mapi_to_buffer_packets_per_us",
         double(count) / seconds * 1e-6,
         "packets/us",
         {{"packets", count}, {"bytes", bytes}, {"seconds", seconds}, {"waits", use.ru_nvcsw}},
         "packets that mapid copied and another process took, by wall time; waits: how often it "
         "slept"},
        "at least", 5);
    return 0;
}
