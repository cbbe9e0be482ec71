// SPDX-License-Identifier: MIT
// Program rings: rings that programs share, and the sites that write to them.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "program_maps.hpp"
#include "src/mapped_ring.hpp"
#include "src/own_sites.hpp"
#include "thinner.hpp"

namespace nsbpf
{
// Numbers of the sites, which are those of the places in the source: a program that is loaded again
// has the same ones.
class SiteNumbers
{
public:
    // The recorder's own points have lower ones and some of the higher ones, functions the highest.
    static constexpr uint16_t kFirst = 0xf100, kLast = 0xf7ff;

    explicit SiteNumbers(uint16_t first = kFirst) : first_(first), next_(first) {}
    // Adds a new site to the chunk.  room: how many more the program may have; 0: it has none, and
    // is not recorded.
    uint16_t of(const nslice_bpf_site &site, std::string &chunk, uint32_t &room);
    // How many new ones a program may have, so that others get some, too.
    uint32_t share() const { return (kLast + 1u - next_ + kPrograms - 1) / kPrograms; }
    // By number, from the first one on.
    const std::vector<ThinName> &thin_names() const { return by_number_; }
    ThinName thin_name(uint16_t number) const
    {
        return number < first_ ? kNeverOff : by_number_[number - first_];
    }
    uint64_t unnamed() const { return unnamed_; }

private:
    static constexpr uint32_t kPrograms = 4;

    ThinName name_place(const std::string &name);

    std::map<std::tuple<uint8_t, uint32_t, std::string, std::string>, uint16_t> numbers_;
    std::map<std::string, ThinName> names_;
    std::vector<ThinName> by_number_;
    const uint16_t first_;
    uint32_t next_;
    uint64_t unnamed_ = 0;
};

bool is_probe(const nslice_bpf_site &site);

class ProgramRings
{
public:
    // room: how many new numbers its sites may have.  Throws Refusal: rings cannot be mapped, or
    // another recorder has them.
    ProgramRings(FoundProgram found, uint32_t cpus, uint64_t owner, uint32_t room);
    // Switches off, and lets another recorder have them.
    ~ProgramRings();
    ProgramRings(const ProgramRings &) = delete;
    ProgramRings &operator=(const ProgramRings &) = delete;

    // Adds sites that are not known yet; all are off until select().  Returns how many have no
    // number, and stay off.  Throws Refusal.
    uint32_t add_sites(const ProgramMap &map, SiteNumbers &numbers, std::string &chunk);
    void select(const std::string &rules, const ThinSet &off);
    // Of the selected sites, those in the set are off, and all others on.  Adds the numbers of what
    // is off.
    void thin(const ThinSet &off, std::set<uint16_t> &numbers);
    void silence();
    // Forgets what was written before now.
    void begin();

    uint32_t id() const { return id_; }
    bool has_sites(uint32_t map) const;
    std::vector<std::unique_ptr<MappedRing>> &rings() { return rings_; }
    std::set<uint32_t> programs; // that are loaded

private:
    struct Site {
        nslice_bpf_site copy; // as it was: programs may write to the map
        uint16_t number;      // 0: none
        uint64_t bits;        // while it is on
        ThinName name;
        bool is_selected = false;
    };
    struct Sites {
        uint32_t map;
        nslice_bpf_site *memory;
        size_t mapped_bytes;
        std::vector<Site> all;
    };

    void claim(const std::string &name, uint64_t owner);
    void disclaim();
    void switch_sites(const ThinSet &off);

    uint32_t id_;       // of the map
    uint32_t room_ = 0; // numbers that it may still have
    OwnSites own_{SiteNumbers::kFirst};
    std::vector<std::unique_ptr<MappedRing>> rings_; // by CPU
    std::list<Sites> sites_;
};
} // namespace nsbpf
