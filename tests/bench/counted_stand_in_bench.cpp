// SPDX-License-Identifier: MIT
// A record with two counters on a machine without a PMU: the library's assembly with rdtsc instead
// of rdpmc, compared with three bare rdtsc.  Shows what the record adds to its reads, but not the
// cost of rdpmc.
#include <cstring>

#include <linux/perf_event.h>
#include <sys/rseq.h>

#define NSP_DETAIL_SITE_SECTION "stand_in_sites"
#include <nsprobe/detail/arch.h>

#include "figure.hpp"
#include "machine.hpp"

extern "C" {
#include "counters/counters.h"
#include "session/process.h"
#include "session/shm.h"
#include "writer/arch.h"
#include "writer/counted_block.h"

struct nsp_detail_state stand_in_state;
extern struct nsp_site __start_stand_in_sites[], __stop_stand_in_sites[];
}

namespace
{
constexpr int kRounds = 10000;
constexpr int kBatches = 501;
constexpr uint32_t kCounters = 2;
perf_event_mmap_page pages[kCounters];

// What nsp_session_open() and a thread's first probe would do with a PMU.
nsp_shm_map prepare()
{
    nsp_session_config config{};
    config.struct_size = sizeof(config);
    config.ring_bytes = 32u << 20;
    config.ring_kind = NSLICE_RING_RSEQ;
    nsp_shm_map map{};
    if (!nsp_has_rseq() || nsp_shm_create(&config, &map) != 0) {
        std::fprintf(stderr, "no rings: %s\n",
                     nsp_has_rseq() ? nsp_last_error() : "glibc has not registered rseq");
        std::exit(77);
    }
    nsp_shm_populate(&map);
    nsp_session_generation = 1;
    for (uint32_t i = 0; i < kCounters; ++i) {
        pages[i].cap_user_rdpmc = 1;
        pages[i].index = i + 1;
        pages[i].pmc_width = 48;
        nsp_thread.counter[i].page = &pages[i];
    }
    nsp_thread.registers_of = nsp_session_generation;
    nsp_detail_thread_id = 1;
    stand_in_state.rings = map.rings;
    stand_in_state.stride_bytes = map.stride_bytes;
    stand_in_state.cpus = map.cpus;
    stand_in_state.rseq_offset = __rseq_offset;
    stand_in_state.ring_kind = NSLICE_RING_RSEQ;
    stand_in_state.counters = kCounters;
    stand_in_state.mode = NSP_DETAIL_MODE_COUNTED;
    nsp_counted_bind(&stand_in_state);
    nsp_counted_refresh(&stand_in_state);
    for (nsp_site *site = __start_stand_in_sites; site < __stop_stand_in_sites; ++site)
        site->mode = NSP_DETAIL_MODE_COUNTED;
    return map;
}

void give_back_room(nsp_shm_map &map)
{
    for (uint32_t cpu = 0; cpu < map.cpus; ++cpu) {
        nslice_ring_meta *ring = nsp_shm_ring(&map, cpu);
        ring->tail = ring->head;
        ring->limit = uint32_t(ring->head) + ring->mask + 1;
    }
}

template <class Code> double ticks_of(Code code)
{
    const uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < kRounds; ++i)
        code();
    return double(bench::fenced_ticks() - begin) / kRounds;
}

uint64_t lost(const nsp_shm_map &map)
{
    uint64_t records = 0;
    for (uint32_t cpu = 0; cpu < map.cpus; ++cpu)
        for (const auto count : nsp_shm_ring(&map, cpu)->lost)
            records += count;
    return records;
}
} // namespace

int main()
{
    bench::pin_to_last_cpu();
    nsp_shm_map map = prepare();
    std::vector<double> bare, record;
    for (int i = 0; i < kBatches; ++i) {
        bare.push_back(ticks_of([] {
            bench::bare_clock();
            bench::bare_clock();
            bench::bare_clock();
        }));
        record.push_back(
            ticks_of([] { NSP_DETAIL_PROBE("stand_in_state", "bench", NSLICE_KIND_START); }));
        give_back_room(map);
    }
    if (lost(map) > 0) {
        std::fprintf(stderr, "%llu records lost because a ring was full\n",
                     static_cast<unsigned long long>(lost(map)));
        return 1;
    }
    bench::print({"record_2_counters_stand_in_ratio",
                  bench::median(record) / bench::median(bare),
                  "ratio to three rdtsc",
                  {{"record_ticks", bench::median(record)},
                   {"record_ticks_p10", bench::quantile(record, 0.1)},
                   {"record_ticks_p90", bench::quantile(record, 0.9)},
                   {"three_clocks_ticks", bench::median(bare)}},
                  "the assembly of a record with two counters, with rdtsc instead of rdpmc; not a "
                  "real machine's cost"});
    return 0;
}
