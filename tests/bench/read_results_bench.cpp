// SPDX-License-Identifier: MIT
// mapi_read_results() of a counter while packets arrive.
#include <cstdint>
#include <ctime>
#include <iostream>

#include <mapi/mapi.h>

#include "figure.hpp"

namespace
{
constexpr int kReads = 5000000;

double thread_s()
{
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}
} // namespace

int main(int argc, char **argv)
{
    char *device = argc == 2 ? mapi_create_offline_device(argv[1], MFF_PCAP) : nullptr;
    if (!device || mapi_set_device_option(device, "repeat", "forever") < 0) {
        std::cerr << "usage: read_results_bench CAPTURE\n";
        return 2;
    }
    const int flow = mapi_create_flow(device);
    const int counter = mapi_apply_function(flow, "PKT_COUNTER");
    if (counter < 0 || mapi_connect(flow) < 0 || mapi_start_offline_device(device) < 0)
        return 1;
    uint64_t first = 0, last = 0;
    while (first == 0)
        first = *static_cast<const uint64_t *>(mapi_read_results(flow, counter)->res);
    const double begin = thread_s();
    for (int i = 0; i < kReads; ++i)
        last = *static_cast<const uint64_t *>(mapi_read_results(flow, counter)->res);
    const double ns = (thread_s() - begin) * 1e9 / kReads;
    mapi_close_flow(flow);
    mapi_delete_offline_device(device);
    if (last <= first) {
        std::cerr << "no packets arrived during the measurement\n";
        return 1;
    }
    bench::print({"mapi_read_results_ns",
                  ns,
                  "ns",
                  {{"reads", kReads}, {"packets_meanwhile", last - first}},
                  "CPU time of the reading thread while another thread counts"},
                 "at most", 15);
    return 0;
}
