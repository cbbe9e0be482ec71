// SPDX-License-Identifier: MIT
// A record by a BPF program against the kernel's clock read on its own, by test runs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <nslice/ring.h>
#include <sys/mman.h>

#include "cost.skel.h"
#include "src/point_table.hpp"

namespace
{
constexpr uint32_t kRingBytes = 1 << 20, kStride = NSLICE_RING_META_BYTES + kRingBytes;
constexpr int kBatches = 200, kRepeats = 400; // their records fit into the ring
constexpr double kRounds = 100;               // of a run

[[noreturn]] void skip(const char *reason)
{
    std::fprintf(stderr, "%s\n", reason);
    std::exit(77);
}

class Cost
{
public:
    Cost()
    {
        libbpf_set_print([](libbpf_print_level, const char *, va_list) { return 0; });
        cpus_ = uint32_t(libbpf_num_possible_cpus());
        programs_ = nsbpf_cost__open();
        programs_->rodata->nsbpf_ring_mask = kRingBytes / NSLICE_WORD_BYTES - 1;
        bpf_map__set_max_entries(programs_->maps.nsbpf_rings, cpus_);
        bpf_map__set_value_size(programs_->maps.nsbpf_rings, kStride);
        if (nsbpf_cost__load(programs_) != 0)
            skip("programs cannot be loaded");
        programs_->bss->nsbpf_bits[IRQ_START] = nsbpf::bits_of(IRQ_START);
        rings_ = static_cast<char *>(mmap(nullptr, size_t{cpus_} * kStride, PROT_READ | PROT_WRITE,
                                          MAP_SHARED, bpf_map__fd(programs_->maps.nsbpf_rings), 0));
        if (rings_ == MAP_FAILED)
            skip("no memory for rings");
    }
    ~Cost() { nsbpf_cost__destroy(programs_); }
    Cost(const Cost &) = delete;
    Cost &operator=(const Cost &) = delete;

    // Of one round, in ns.
    double run(const bpf_program *program)
    {
        char packet[64] = {};
        LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet, .data_size_in = sizeof packet,
                    .repeat = kRepeats);
        for (uint32_t cpu = 0; cpu < cpus_; ++cpu)
            ring(cpu)->tail = ring(cpu)->head;
        if (bpf_prog_test_run_opts(bpf_program__fd(program), &options) != 0)
            skip("no test runs");
        return options.duration / kRounds;
    }
    uint64_t lost() const
    {
        uint64_t sum = 0;
        for (uint32_t cpu = 0; cpu < cpus_; ++cpu)
            for (const uint64_t lost : ring(cpu)->lost)
                sum += lost;
        return sum;
    }
    const nsbpf_cost &programs() const { return *programs_; }

private:
    nslice_ring_meta *ring(uint32_t cpu) const
    {
        return reinterpret_cast<nslice_ring_meta *>(rings_ + size_t{cpu} * kStride);
    }

    uint32_t cpus_;
    nsbpf_cost *programs_;
    char *rings_;
};

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}
} // namespace

int main()
{
    Cost cost;
    std::vector<double> nothing, clocks, records, ratios;
    for (int batch = 0; batch < kBatches; ++batch) { // in turn, so that all see the same machine
        nothing.push_back(cost.run(cost.programs().progs.nothing));
        clocks.push_back(cost.run(cost.programs().progs.clocks));
        records.push_back(cost.run(cost.programs().progs.records));
        ratios.push_back((records.back() - nothing.back()) / (clocks.back() - nothing.back()));
    }
    if (cost.lost() > 0) {
        std::fprintf(stderr, "%llu records were lost\n",
                     static_cast<unsigned long long>(cost.lost()));
        return 1;
    }
    std::printf("{\"figure\":\"nsbpf_record_clock_ratio\",\"value\":%.3f,\"bar\":2.0,"
                "\"sense\":\"at most\",\"unit\":\"ratio\",\"raw\":{\"loop_ns\":%.2f,"
                "\"clock_ns\":%.2f,\"record_ns\":%.2f},\"note\":\"test runs of 100 rounds, without "
                "the loop's own time; medians of %d batches\"}\n",
                median(ratios), median(nothing), median(clocks), median(records), kBatches);
    return 0;
}
