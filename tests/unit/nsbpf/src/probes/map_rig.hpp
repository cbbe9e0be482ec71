// SPDX-License-Identifier: MIT
// Maps as programs with probes have them; invalid descriptors without capabilities.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <bpf/bpf.h>
#include <nslice/bpf_site.h>
#include <nslice/ring.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/probes/program_maps.hpp"
#include "support/catch.hpp"

namespace nsbpf_test
{
constexpr uint32_t kRingBytes = 4096;

// For one CPU.
inline int create_map(const char *name, uint32_t value_bytes)
{
    LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
    return bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), value_bytes, 1, &options);
}

inline int create_rings()
{
    return create_map(NSLICE_BPF_RINGS, NSLICE_RING_META_BYTES + kRingBytes);
}

inline nslice_bpf_site site_of(uint8_t kind, uint32_t line, const char *name)
{
    nslice_bpf_site site = {};
    site.kind = kind;
    site.line = line;
    strncpy(site.name, name, sizeof(site.name));
    strncpy(site.file, "program.bpf.c", sizeof(site.file));
    return site;
}

// The maps of a program, which writes what a test says.
class ProgramRig
{
public:
    explicit ProgramRig(const std::vector<nslice_bpf_site> &sites)
        : sites_bytes_(uint32_t(sites.size() * sizeof(nslice_bpf_site))), rings_(create_rings()),
          sites_(create_map(NSLICE_BPF_SITES, sites_bytes_))
    {
        constexpr uint32_t kOnly = 0;
        if (is_permitted())
            REQUIRE(bpf_map_update_elem(sites_, &kOnly, sites.data(), BPF_ANY) == 0);
    }
    ~ProgramRig()
    {
        close(rings_);
        close(sites_);
    }
    ProgramRig(const ProgramRig &) = delete;
    ProgramRig &operator=(const ProgramRig &) = delete;

    bool is_permitted() const { return rings_ >= 0 && sites_ >= 0; }
    nsbpf::ProgramMap sites() const { return {2, nsbpf::Descriptor(dup(sites_)), sites_bytes_, 1}; }
    nsbpf::FoundProgram found() const
    {
        nsbpf::FoundProgram program = {1, "program", {}, {}, ""};
        program.rings.push_back(
            {1, nsbpf::Descriptor(dup(rings_)), NSLICE_RING_META_BYTES + kRingBytes, 1});
        return program;
    }
    // The bits that the recorder has given its sites; 0: off.
    std::vector<uint64_t> bits() const
    {
        std::vector<uint64_t> all;
        for (const nslice_bpf_site &site : nsbpf::read_sites(sites()))
            all.push_back(site.bits);
        return all;
    }
    // A record without words.
    void write(uint64_t second)
    {
        void *const memory = mmap(nullptr, NSLICE_RING_META_BYTES + kRingBytes,
                                  PROT_READ | PROT_WRITE, MAP_SHARED, rings_, 0);
        REQUIRE(memory != MAP_FAILED);
        auto *const ring = static_cast<nslice_ring_meta *>(memory);
        auto *const words =
            reinterpret_cast<uint64_t *>(static_cast<char *>(memory) + NSLICE_RING_META_BYTES) +
            uint32_t(ring->head) % (kRingBytes / NSLICE_WORD_BYTES);
        words[0] = 1;
        words[1] = second;
        ring->head += NSLICE_POSITION_STEP(NSLICE_HEAD_WORDS);
        munmap(memory, NSLICE_RING_META_BYTES + kRingBytes);
    }

private:
    uint32_t sites_bytes_;
    int rings_, sites_;
};
} // namespace nsbpf_test
