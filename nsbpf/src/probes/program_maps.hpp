// SPDX-License-Identifier: MIT
// Program maps: loaded BPF programs -> those with probes, by the names of their maps.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <nslice/bpf_site.h>

#include "descendants.hpp"
#include "nsbpf/recorder.hpp"

namespace nsbpf
{
// Whether the kernel lets this process list and open the programs of all others.
bool may_list_programs();

// Closed at the end.
class Descriptor
{
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor();
    Descriptor(Descriptor &&other) noexcept : number_(other.number_) { other.number_ = -1; }
    Descriptor &operator=(Descriptor &&) = delete;
    int get() const { return number_; }

private:
    int number_;
};

struct ProgramMap {
    uint32_t id;
    Descriptor descriptor;
    uint32_t value_bytes, entries;
};

// A program with probes; what is wrong with its maps, "": nothing.
struct FoundProgram {
    uint32_t id;
    std::string name;
    std::vector<ProgramMap> rings, sites;
    std::string fault;
    uint64_t ring_bytes() const;
};

// Follows which programs are loaded.
class ProgramMaps
{
public:
    // kStarted: without those of anybody else.  Only kAnybody requires CAP_SYS_ADMIN.
    ProgramMaps(uint32_t cpus, Whose whose) : cpus_(cpus), whose_(whose) {}

    // Programs with probes that were loaded since the last call.  Throws Refusal.
    std::vector<FoundProgram> look();
    // What the last look could not examine and why, one line each; the next one tries it again.
    const std::vector<std::string> &failures() const { return failures_; }
    // The next look finds it again.
    void forget(uint32_t program) { loaded_.erase(program); }
    // Without CAP_SYS_ADMIN it may be although no process has it open.
    bool is_loaded(uint32_t program) const
    {
        return whose_ != Whose::kAnybody || loaded_.contains(program);
    }

private:
    template <class OpenMap>
    void examine_new(uint32_t id, int opened, const OpenMap &open_map,
                     std::vector<FoundProgram> &found);
    std::vector<FoundProgram> look_at(const OpenObjects &objects);

    const uint32_t cpus_;
    const Whose whose_;
    std::set<uint32_t> loaded_; // that have been examined
    std::vector<std::string> failures_;
};

// The used entries of a map of sites; names and files end in a terminator.
std::vector<nslice_bpf_site> read_sites(const ProgramMap &map);
std::string name_of(const nslice_bpf_site &site);
std::string file_of(const nslice_bpf_site &site);
} // namespace nsbpf
