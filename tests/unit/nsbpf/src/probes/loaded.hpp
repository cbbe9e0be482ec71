// SPDX-License-Identifier: MIT
// A loaded BPF program with maps as those of programs with probes.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <nslice/ring.h>
#include <unistd.h>

#include "map_rig.hpp"
#include "src/probes/program_maps.hpp"

namespace nsbpf_test
{
// A program that refers to a ring and sites; without capabilities it is not loaded.  For one CPU:
// recorders on this machine may refuse it.
class Loaded
{
public:
    Loaded()
    {
        const auto load_map = [](int map) {
            return bpf_insn{BPF_LD | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map}; // BPF_IMM is 0
        };
        const bpf_insn second_half = {};
        const bpf_insn instructions[] = {
            load_map(rings_.get()),
            second_half,
            load_map(sites_.get()),
            second_half,
            {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
            {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
        };
        program_ = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "probes", "Dual MIT/GPL",
                                 instructions, std::size(instructions), nullptr);
        bpf_prog_info info = {};
        uint32_t bytes = sizeof(info);
        if (program_ >= 0 && bpf_obj_get_info_by_fd(program_, &info, &bytes) == 0)
            id_ = info.id;
    }
    ~Loaded() { close(program_); }
    Loaded(const Loaded &) = delete;
    Loaded &operator=(const Loaded &) = delete;

    int rings() const { return rings_.get(); }
    bool is_loaded() const { return id_ != 0; }
    bool is_in(const std::vector<nsbpf::FoundProgram> &found) const
    {
        return std::ranges::any_of(found, [this](const nsbpf::FoundProgram &one) {
            return one.id == id_ && one.name == "probes" && one.fault.empty() &&
                   one.rings.size() == 1 && one.sites.size() == 1;
        });
    }

private:
    nsbpf::Descriptor rings_{create_rings()};
    nsbpf::Descriptor sites_{create_map(NSLICE_BPF_SITES, sizeof(nslice_bpf_site))};
    int program_;
    uint32_t id_ = 0;
};
} // namespace nsbpf_test
