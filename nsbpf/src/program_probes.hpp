// SPDX-License-Identifier: MIT
// Program probes: probes of loaded BPF programs -> switched on for this recorder; their rings.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "mapped_ring.hpp"
#include "program_maps.hpp"

namespace nsbpf
{
// Numbers of the sites, which are those of the places in the source: a program that is loaded again
// has the same ones.
class SiteNumbers
{
public:
    explicit SiteNumbers(uint32_t first) : next_(first) {}
    // 0: none is left.  Adds a new site to the chunk.
    uint16_t of(const nslice_bpf_site &site, std::string &chunk);
    uint64_t unnamed() const { return unnamed_; }

private:
    std::map<std::tuple<uint8_t, uint32_t, std::string, std::string>, uint16_t> numbers_;
    uint32_t next_;
    uint64_t unnamed_ = 0;
};

// Rings that programs share, and their sites.
class ProgramRings
{
public:
    // Throws Refusal: rings cannot be mapped, or another recorder has them.
    ProgramRings(FoundProgram found, uint32_t cpus, uint64_t owner);
    // Switches off, and lets another recorder have them.
    ~ProgramRings();
    ProgramRings(const ProgramRings &) = delete;
    ProgramRings &operator=(const ProgramRings &) = delete;

    // Adds sites that are not known yet; all are off until select().  Throws Refusal.
    void add_sites(const ProgramMap &map, SiteNumbers &numbers, std::string &chunk);
    void select(const std::string &rules);
    void silence();
    // Forgets what was written before now.
    void begin();

    uint32_t id() const { return id_; }
    bool has_sites(uint32_t map) const;
    std::vector<std::unique_ptr<MappedRing>> &rings() { return rings_; }
    std::set<uint32_t> programs; // that are loaded

private:
    struct Sites {
        uint32_t map;
        nslice_bpf_site *memory;
        size_t mapped_bytes;
        std::vector<nslice_bpf_site> copies; // as they were: programs may write to the map
        std::vector<uint64_t> bits;
    };

    void claim(const std::string &name, uint64_t owner);
    void disclaim();

    uint32_t id_;                                    // of the map
    std::vector<std::unique_ptr<MappedRing>> rings_; // by CPU
    std::list<Sites> sites_;
};

class ProgramProbes
{
public:
    using Tell = std::function<void(const std::string &)>; // a warning in one line

    // is_of_descendants: see ProgramMaps.  Throws Refusal.
    ProgramProbes(uint32_t cpus, std::string rules, bool is_of_descendants, Tell tell);

    // Programs loaded since the last time.  Sites of theirs are appended to the chunk; added() gets
    // their rings, before they are on.
    void look(std::string &chunk, const std::function<void(ProgramRings &)> &added);
    // Rings whose programs have been unloaded for a while.
    std::vector<ProgramRings *> unloaded();
    void drop(ProgramRings *rings);

    void select(const std::string &rules);
    void silence();
    uint64_t unnamed() const { return numbers_.unnamed(); }
    // Smallest of the rings; 0: there are none.
    uint64_t least_ring_bytes() const;
    // Names of the programs, as far as they were recorded.
    std::string names() const;

private:
    void take(FoundProgram program, std::string &chunk,
              const std::function<void(ProgramRings &)> &added);
    ProgramRings *known(const FoundProgram &program);

    const uint32_t cpus_;
    const uint64_t owner_;
    Tell tell_;
    ProgramMaps maps_;
    SiteNumbers numbers_;
    mutable std::mutex selecting_; // rules_ and all_: select() is called by another thread
    std::string rules_;
    std::list<std::unique_ptr<ProgramRings>> all_;
    std::map<ProgramRings *, uint64_t> unloaded_since_ms_;
    std::set<std::string> names_;
    std::set<std::string> told_failures_;
    std::set<uint32_t> told_; // maps of rings that are not recorded
};
} // namespace nsbpf
