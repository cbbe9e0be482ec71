// SPDX-License-Identifier: MIT
// Program probes: follows which programs are loaded.
#include "program_probes.hpp"

#include <cerrno>
#include <ctime>

#include "nsbpf/recorder.hpp"
#include "owner.hpp"
#include "src/point_table.hpp"

namespace nsbpf
{
namespace
{
constexpr uint64_t kUnloadedMs = 1000; // until then a program may still be running

uint64_t now_ms()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1000 + uint64_t(now.tv_nsec) / 1000000;
}
} // namespace

ProgramProbes::ProgramProbes(uint32_t cpus, std::string rules, Whose whose, Tell tell)
    : cpus_(cpus), owner_(own_owner()), tell_(std::move(tell)), maps_(cpus, whose),
      rules_(std::move(rules))
{
}

ProgramRings *ProgramProbes::known(const FoundProgram &program)
{
    for (const auto &rings : all_)
        if (rings->id() == program.rings[0].id)
            return rings.get();
    return nullptr;
}

void ProgramProbes::take(FoundProgram program, std::string &chunk,
                         const std::function<void(ProgramRings &)> &added)
{
    if (!program.fault.empty()) {
        if (told_.insert(program.rings[0].id).second)
            tell_("program " + program.name + " (id " + std::to_string(program.id) +
                  ") is not recorded: " + program.fault);
        return;
    }
    std::vector<ProgramMap> sites = std::move(program.sites);
    const uint32_t id = program.id;
    const std::string name = program.name;
    ProgramRings *rings = known(program);
    std::unique_ptr<ProgramRings> fresh;
    if (!rings) {
        fresh = std::make_unique<ProgramRings>(std::move(program), cpus_, owner_, numbers_.share());
        rings = fresh.get();
    }
    uint32_t unnamed = 0;
    for (const ProgramMap &map : sites)
        if (!rings->has_sites(map.id))
            unnamed += rings->add_sites(map, numbers_, chunk);
    if (unnamed > 0)
        tell_(
            "program " + name + " (id " + std::to_string(id) + "): " + std::to_string(unnamed) +
            " of its probes are not recorded: it may have a quarter of the numbers that are left");
    rings->programs.insert(id);
    unloaded_since_ms_.erase(rings);
    names_.insert(name);
    if (fresh) {
        fresh->begin();
        all_.push_back(std::move(fresh));
        added(*rings);
    }
}

// What another recorder has is tried again: it may end.
void ProgramProbes::look(std::string &chunk, const std::function<void(ProgramRings &)> &added)
{
    const std::lock_guard lock(selecting_);
    std::vector<FoundProgram> found = maps_.look();
    for (const std::string &failure : maps_.failures())
        if (told_failures_.insert(failure).second)
            tell_(failure);
    bool has_changed = false;
    for (FoundProgram &program : found) {
        const uint32_t id = program.id, rings = program.rings[0].id;
        bool is_busy = false;
        try {
            take(std::move(program), chunk, added);
        } catch (const Refusal &refusal) {
            if (told_.insert(rings).second)
                tell_(refusal.what());
            is_busy = refusal.number() == EBUSY;
        }
        if (is_busy)
            maps_.forget(id);
        has_changed |= !is_busy;
    }
    if (has_changed)
        select_all();
    for (const auto &rings : all_) {
        std::erase_if(rings->programs, [this](uint32_t id) { return !maps_.is_loaded(id); });
        if (rings->programs.empty())
            unloaded_since_ms_.try_emplace(rings.get(), now_ms());
    }
}

std::vector<ProgramRings *> ProgramProbes::unloaded()
{
    std::vector<ProgramRings *> over;
    for (const auto &[rings, since_ms] : unloaded_since_ms_)
        if (now_ms() - since_ms > kUnloadedMs)
            over.push_back(rings);
    return over;
}

void ProgramProbes::drop(ProgramRings *rings)
{
    const std::lock_guard lock(selecting_);
    unloaded_since_ms_.erase(rings);
    all_.remove_if([rings](const auto &one) { return one.get() == rings; });
}

void ProgramProbes::select(const std::string &rules)
{
    const std::lock_guard lock(selecting_);
    rules_ = rules;
    select_all();
}

void ProgramProbes::select_all()
{
    ++generation_;
    for (const auto &rings : all_)
        rings->select(rules_, off_);
}

Thinned ProgramProbes::thin(const ThinSet &off)
{
    const std::lock_guard lock(selecting_);
    Thinned thinned = {{}, generation_};
    off_ = off;
    for (const auto &rings : all_)
        rings->thin(off_, thinned.numbers);
    return thinned;
}

uint64_t ProgramProbes::generation() const
{
    const std::lock_guard lock(selecting_);
    return generation_;
}

void ProgramProbes::silence()
{
    const std::lock_guard lock(selecting_);
    for (const auto &rings : all_)
        rings->silence();
}

uint64_t ProgramProbes::least_ring_bytes() const
{
    uint64_t least = 0;
    for (const auto &rings : all_) {
        const uint64_t bytes = rings->rings()[0]->data_bytes();
        least = least == 0 ? bytes : std::min(least, bytes);
    }
    return least;
}

std::vector<Place> program_places()
{
    std::vector<Place> all;
    std::set<uint32_t> seen;
    try {
        ProgramMaps maps(1, Whose::kAnybody);
        for (const FoundProgram &program : maps.look()) {
            if (!program.fault.empty())
                continue;
            for (const ProgramMap &map : program.sites) {
                if (!seen.insert(map.id).second)
                    continue;
                for (const nslice_bpf_site &site : read_sites(map))
                    if (is_probe(site))
                        all.push_back({kProgramsGroup, "probes of BPF programs that are loaded",
                                       file_of(site) + ":" + std::to_string(site.line),
                                       kind_name(site.kind), name_of(site),
                                       "in program " + program.name, true});
            }
        }
    } catch (const Refusal &) { // not permitted
    }
    return all;
}

std::string ProgramProbes::names() const
{
    std::string text;
    for (const std::string &name : names_)
        text += (text.empty() ? "" : ",") + name;
    return text;
}
} // namespace nsbpf
