// SPDX-License-Identifier: MIT
// A state whose probes read the registers of a stand-in, and what they write.
#pragma once

#define NSP_DETAIL_SITE_SECTION "counted_sites"
#include "counted_stand_in.hpp"
#include "counter_fixture.hpp"
#include "ring_fixture.hpp"

#include <functional>

#include <sys/resource.h>

#include <nsprobe/detail/arch.h>

#include "support/requires.hpp"

extern "C" {
inline struct nsp_detail_state counted_state;
extern struct nsp_site __start_counted_sites[], __stop_counted_sites[];
}

inline bool can_run()
{
    if (!nsp_has_rseq())
        test_support::skip("glibc has registered no rseq");
    return nsp_has_rseq();
}

inline void switch_sites(uint32_t mode)
{
    for (nsp_site *site = __start_counted_sites; site < __stop_counted_sites; ++site)
        site->mode = nsp_counted_mode(mode, site->head_bits >> 16 & 0xff);
}

class Counted
{
public:
    explicit Counted(uint32_t counters, bool ordered = false)
    {
        source_before_ = nsp_active_source;
        nsp_active_source = &nsp_source_rdpmc;
        nsp_session_generation = 7;
        nsp_thread.counters_failed = 0;
        protocol.set_count(counters);
        for (uint32_t i = 0; i < counters; ++i)
            protocol.pages[i].index = i + 1;
        counted_state = rings.state;
        counted_state.mode = NSP_DETAIL_MODE_COUNTED;
        switch_sites(NSP_DETAIL_MODE_COUNTED);
        counted_state.counters = counters;
        counted_state.ordered = ordered;
        nsp_counted_bind(&counted_state);
        nsp_detail_thread_id = 77;
    }
    // Costs of the ways into C in reads, and a block that is up to date; then values are as given.
    void prepare(std::function<uint64_t(int)> value)
    {
        stand_in = {};
        stand_in.value = value;
        nsp_counted_measure_costs(&counted_state);
        start();
        records();
        stand_in = {};
        stand_in.value = std::move(value);
    }
    // As the kernel does when a thread is preempted outside of a sequence.
    static void take_sequence_away()
    {
        auto *const area = static_cast<char *>(__builtin_thread_pointer()) + __rseq_offset;
        *reinterpret_cast<volatile uint64_t *>(area + 8) = 0;
    }
    ~Counted()
    {
        switch_sites(NSP_DETAIL_MODE_OFF);
        nsp_active_source = source_before_;
        nsp_thread.registers_of = 0;
    }
    static void start() { NSP_DETAIL_PROBE("counted_state", "slice", NSLICE_KIND_START); }
    static void stop() { NSP_DETAIL_PROBE("counted_state", "slice", NSLICE_KIND_STOP); }
    static void exit() { NSP_DETAIL_PROBE("counted_state", "slice", NSLICE_KIND_EXIT); }

    std::vector<Record> records()
    {
        nslice_ring_meta &ring = rings.ring();
        const auto *at =
            static_cast<const uint64_t *>(nsp_ring_data(&ring, Rings::kBytes, ring.tail));
        const auto *end = at + NSLICE_POSITION_WORDS(ring.head - ring.tail);
        std::vector<Record> found;
        for (; at < end; at += NSLICE_HEAD_WORDS + (at[1] >> 56)) {
            CHECK(uint32_t(at[1]) == 77);
            found.push_back({unsigned(at[1] >> 48 & 0xff), Words(at + 2, at + 2 + (at[1] >> 56))});
        }
        CHECK(found.size() == NSLICE_POSITION_RECORDS(ring.head - ring.tail));
        ring.tail = ring.head;
        ring.limit = uint32_t(ring.head) + Rings::kUnits;
        return found;
    }

    Rings rings{NSLICE_RING_RSEQ};
    Protocol protocol;

private:
    const nsp_counter_ops *source_before_;
};

// How often this thread has lost its CPU; its next probe then reads the pages again.
inline long switches()
{
    rusage used{};
    REQUIRE(getrusage(RUSAGE_THREAD, &used) == 0);
    return used.ru_nvcsw + used.ru_nivcsw;
}
