// SPDX-License-Identifier: MIT
// How packets get from an XDP program to this process: the driver's rings, one for each CPU,
// compared with a ring buffer of the kernel (BPF_MAP_TYPE_RINGBUF), which all CPUs share.  By
// BPF_PROG_TEST_RUN, on one CPU and on two at once.
#include <atomic>
#include <cerrno>
#include <iostream>
#include <thread>

#include <pthread.h>

#include "figure.hpp"
#include "kernel_ring.hpp"
#include "own_rings.hpp"
#include "support/xdp_programs.hpp"

namespace
{
using mapi::drivers::xdp::KernelRefusal;
using mapi::drivers::xdp::test_run;
using test_support::Bytes;

constexpr int kRounds = 7;
constexpr uint32_t kRunsAtOnce = 4000; // fit into a ring
constexpr int kRepeats = 20;

void pin(unsigned cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

// Mean time of a run, if `cpus` CPUs run it at the same time.
double run_ns(const bench::Way &way, const Bytes &packet, unsigned cpus)
{
    std::atomic<unsigned> ready = 0;
    std::atomic<uint64_t> sum = 0;
    const auto run = [&](unsigned cpu) {
        pin(cpu);
        for (++ready; ready < cpus;)
            ;
        sum += test_run(way.program, packet, kRunsAtOnce).duration_ns;
    };
    std::vector<std::thread> threads;
    for (unsigned cpu = 0; cpu < cpus; ++cpu)
        threads.emplace_back(run, cpu);
    for (std::thread &thread : threads)
        thread.join();
    bench::Taken taken;
    way.take(taken);
    return double(sum) / cpus;
}

double median_ns(const bench::Way &way, const Bytes &packet, unsigned cpus)
{
    std::vector<double> all;
    for (int i = 0; i < kRepeats; ++i)
        all.push_back(run_ns(way, packet, cpus));
    return bench::median(all);
}

void compare(uint32_t bytes, unsigned cpus)
{
    const Bytes packet = test_support::udp_to(7, bytes);
    const bench::KernelRing kernel(bytes);
    bench::OwnRings own;
    std::vector<double> ratios, kernels, owns;
    for (int round = 0; round < kRounds; ++round) {
        owns.push_back(median_ns(own.way(), packet, cpus));
        kernels.push_back(median_ns(kernel.way(), packet, cpus));
        ratios.push_back(owns.back() / kernels.back());
    }
    bench::print(
        {"mapi_xdp_ring_" + std::to_string(bytes) + "_bytes_" + std::to_string(cpus) +
             "_cpus_ratio",
         bench::median(ratios),
         "ratio",
         {{"own_ns", bench::median(owns)},
          {"kernel_ns", bench::median(kernels)},
          {"own_drops", own.drops()}},
         "a packet and its time into the driver's ring, with the counts of all packets, relative "
         "to the kernel's ring buffer, without them"});
}
} // namespace

int main()
{
    try {
        for (const uint32_t bytes : {60, 730, 1500}) {
            compare(bytes, 1);
            compare(bytes, 2);
        }
        return 0;
    } catch (const KernelRefusal &refusal) {
        std::cerr << refusal.what() << "\n";
        return refusal.number() == EPERM ? 77 : 1;
    }
}
