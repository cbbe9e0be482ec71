// SPDX-License-Identifier: MIT
// The memory of a session with 4 KiB rings, this thread pinned to one CPU, and pushes into that
// CPU's ring; no session.
#pragma once

#include <sched.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "support/catch.hpp"

extern "C" {
#include "drain/ring_read.h"
#include "session/process.h"
#include "session/shm.h"
#include "writer/arch.h"
#include "writer/counted_block.h"
#include "writer/emit.h"
#include "writer/thread.h"
#include <sys/rseq.h>
}

class Rings
{
public:
    static constexpr uint64_t kBytes = 4096;
    static constexpr uint32_t kUnits = kBytes / NSLICE_WORD_BYTES;

    explicit Rings(nslice_ring_kind kind, nslice_ring_full full = NSLICE_FULL_DISCARD)
    {
        nsp_session_config config{};
        config.struct_size = sizeof config;
        config.ring_bytes = kBytes;
        config.full = full;
        config.ring_kind = kind;
        REQUIRE(sched_getaffinity(0, sizeof before_, &before_) == 0);
        cpu_set_t one;
        CPU_ZERO(&one);
        for (cpu_ = 0; !CPU_ISSET(cpu_, &before_); ++cpu_)
            ;
        CPU_SET(cpu_, &one);
        REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
        REQUIRE(nsp_shm_create(&config, &map) == 0);
        map.shm->joined = 1;
        state.rings = map.rings;
        state.stride_bytes = map.stride_bytes;
        state.cpus = map.shm->cpus;
        state.rseq_offset = __rseq_offset;
        state.ring_kind = kind;
        nsp_counted_bind(&state);
        nsp_has_rseq();
    }
    ~Rings()
    {
        nsp_shm_close(&map);
        sched_setaffinity(0, sizeof before_, &before_);
    }
    Rings(const Rings &) = delete;
    Rings &operator=(const Rings &) = delete;

    nslice_ring_meta &ring() { return *nsp_shm_ring(&map, cpu_); }
    uint64_t lost(nslice_lost cause) { return ring().lost[cause]; }

    // Starts the ring at another position, as after long use.
    void begin_at(uint64_t position)
    {
        ring().head = ring().tail = position;
        ring().limit = uint32_t(position) + kUnits;
    }

    // One record with `words` words, all of which are `value`.
    void push(uint64_t value, uint32_t words = 0)
    {
        uint64_t record[NSLICE_MAX_RECORD_WORDS];
        record[1] = 77 | uint64_t{NSLICE_KIND_MARK} << 48 | uint64_t{words} << 56;
        for (uint32_t i = 0; i < words; ++i)
            record[NSLICE_HEAD_WORDS + i] = value;
        while (!nsp_push(&state, record, NSLICE_HEAD_WORDS + words))
            ;
    }

    uint32_t used_units() { return NSLICE_POSITION_WORDS(ring().head - ring().tail); }
    uint32_t used_records() { return NSLICE_POSITION_RECORDS(ring().head - ring().tail); }

    // Consumes what is there, as the drain does; returns the first word of each record that has
    // one.
    std::vector<uint64_t> take(uint32_t max_bytes = 1 << 18)
    {
        std::vector<uint64_t> values;
        const nslice_span span =
            nsp_ring_span(&ring(), kBytes, ring().tail, ring().head, max_bytes);
        const auto *at = static_cast<const uint64_t *>(nsp_ring_data(&ring(), kBytes, ring().tail));
        uint32_t records = 0;
        for (const auto *end = at + span.words; at < end; ++records) {
            const uint64_t words = at[1] >> 56;
            if (words)
                values.push_back(at[2]);
            at += NSLICE_HEAD_WORDS + words;
        }
        CHECK(records == span.records);
        CHECK(nsp_ring_consume(&ring(), kBytes, ring().tail, span) == 1);
        return values;
    }

    nsp_shm_map map{};
    struct nsp_detail_state state {
    };

private:
    cpu_set_t before_;
    unsigned cpu_ = 0;
};

// The kinds that this process can write.
inline std::vector<nslice_ring_kind> ring_kinds()
{
    if (nsp_has_rseq())
        return {NSLICE_RING_RSEQ, NSLICE_RING_ATOMIC};
    return {NSLICE_RING_ATOMIC};
}
