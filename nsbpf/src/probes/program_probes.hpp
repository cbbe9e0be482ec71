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
#include <vector>

#include "program_maps.hpp"
#include "program_rings.hpp"

namespace nsbpf
{
class ProgramProbes
{
public:
    using Tell = std::function<void(const std::string &)>; // a warning in one line

    // whose: see ProgramMaps.  Throws Refusal.
    ProgramProbes(uint32_t cpus, std::string rules, Whose whose, Tell tell);

    // Programs loaded since the last time.  Sites of theirs are appended to the chunk; added() gets
    // their rings, before they are on.
    void look(std::string &chunk, const std::function<void(ProgramRings &)> &added);
    // Rings whose programs have been unloaded for a while.
    std::vector<ProgramRings *> unloaded();
    void drop(ProgramRings *rings);

    void select(const std::string &rules);
    // Of the selected sites, those in the set are off from now on, and all others on.
    Thinned thin(const ThinSet &off);
    uint64_t generation() const;
    const SiteNumbers &numbers() const { return numbers_; }
    void silence();
    uint64_t unnamed() const { return numbers_.unnamed(); }
    // Smallest of the rings; 0: there are none.
    uint64_t least_ring_bytes() const;
    // Names of the programs, as far as they were recorded.
    std::string names() const;

private:
    void take(FoundProgram program, std::string &chunk,
              const std::function<void(ProgramRings &)> &added);
    void select_all(); // locked
    ProgramRings *known(const FoundProgram &program);

    const uint32_t cpus_;
    const uint64_t owner_;
    Tell tell_;
    ProgramMaps maps_;
    SiteNumbers numbers_;
    mutable std::mutex selecting_; // the next four: select() is called by another thread
    std::string rules_;
    ThinSet off_;
    uint64_t generation_ = 0; // of rules and sites
    std::list<std::unique_ptr<ProgramRings>> all_;
    std::map<ProgramRings *, uint64_t> unloaded_since_ms_;
    std::set<std::string> names_;
    std::set<std::string> told_failures_;
    std::set<uint32_t> told_; // maps of rings that are not recorded
};
} // namespace nsbpf
