// SPDX-License-Identifier: MIT
// Reads the records of a program's probes as a recorder does: it finds the maps through the
// program, switches sites on, and drains the rings.
#pragma once

#include <string>
#include <vector>

#include <nslice/bpf_site.h>
#include <nslice/ring.h>

#include "ipc/descriptor.hpp"

namespace test_support
{
struct ProbeRecord {
    std::string name;
    uint8_t kind;
    uint64_t time_ns;
    uint32_t thread;
    std::vector<uint64_t> words;
};

class ProbeRecorder
{
public:
    // Throws std::runtime_error if the program has no probes.
    explicit ProbeRecorder(int program)
        : sites_(program, NSLICE_BPF_SITES), rings_(program, NSLICE_BPF_RINGS)
    {
    }
    static bool has_probes(int program);

    size_t sites() const { return sites_.value_bytes / sizeof(nslice_bpf_site); }
    nslice_bpf_site &site(size_t number) const
    {
        return reinterpret_cast<nslice_bpf_site *>(sites_.memory)[number];
    }
    // All whose names begin so.
    void switch_on(const std::string &prefix = "") const;
    void switch_off() const;

    uint32_t rings() const { return rings_.values; }
    uint32_t data_bytes() const { return rings_.value_bytes - NSLICE_RING_META_BYTES; }
    nslice_ring_meta &ring(uint32_t cpu) const
    {
        return *reinterpret_cast<nslice_ring_meta *>(rings_.memory +
                                                     size_t{cpu} * rings_.value_bytes);
    }
    uint64_t lost(nslice_lost cause) const; // on all CPUs

    // What a CPU has written.  Throws std::runtime_error if a record is not complete, or the head
    // has counted another number of them.
    std::vector<ProbeRecord> drain(uint32_t cpu) const;

private:
    struct Mapped {
        Mapped(int program, const char *name);
        ~Mapped();
        Mapped(const Mapped &) = delete;
        Mapped &operator=(const Mapped &) = delete;

        uint32_t value_bytes = 0, values = 0;
        char *memory = nullptr;
    };

    uint64_t &word(uint32_t cpu, uint64_t position) const;

    const Mapped sites_, rings_;
};
} // namespace test_support
