// SPDX-License-Identifier: MIT
// Program probes: sites get numbers, rings an owner.
#include "program_probes.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <linux/membarrier.h>
#include <nslice/record.h>
#include <nslice/rules.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "identify.hpp"
#include "nsbpf/recorder.hpp"
#include "owner.hpp"
#include "point_table.hpp"

namespace nsbpf
{
namespace
{
constexpr uint32_t kGraceUs = 100000;  // far longer than a program runs
constexpr uint64_t kUnloadedMs = 1000; // until then a program may still be running
// The recorder's own points have lower ones and some of the higher ones, functions the highest.
constexpr uint16_t kFirstSliceId = 0xf100, kMostSliceId = 0xf7ff;

uint64_t now_ms()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1000 + uint64_t(now.tv_nsec) / 1000000;
}

bool is_probe(const nslice_bpf_site &site)
{
    return site.kind >= NSLICE_KIND_START && site.kind <= NSLICE_KIND_EXIT;
}

bool is_unit(const nslice_bpf_site &site)
{
    return site.kind == NSLICE_KIND_INIT || site.kind == NSLICE_KIND_EXIT;
}

void set_bits(nslice_bpf_site &site, uint64_t bits)
{
    __atomic_store_n(&site.bits, bits, __ATOMIC_RELEASE);
}
} // namespace

uint16_t SiteNumbers::of(const nslice_bpf_site &site, std::string &chunk)
{
    const auto place = std::make_tuple(site.kind, site.line, name_of(site), file_of(site));
    if (const auto known = numbers_.find(place); known != numbers_.end())
        return known->second;
    if (next_ > kMostSliceId) {
        ++unnamed_;
        return 0;
    }
    const auto number = uint16_t(next_++);
    numbers_[place] = number;
    nslice_file_site row = {};
    row.slice_id = number;
    row.kind = site.kind;
    row.line = site.line;
    row.flags = NSLICE_SITE_IN_PROGRAM;
    append_site(chunk, row, name_of(site), file_of(site));
    return number;
}

ProgramRings::ProgramRings(FoundProgram found, uint32_t cpus, uint64_t owner)
    : id_(found.rings[0].id)
{
    const uint64_t bytes = found.ring_bytes(), stride = NSLICE_RING_META_BYTES + bytes;
    const auto map_ring = [&](uint32_t cpu) {
        rings_.push_back(std::make_unique<MappedRing>(found.rings[0].descriptor.get(), cpu, bytes,
                                                      cpu * stride));
        rings_.back()->expect({kFirstSliceId, kMostSliceId});
    };
    map_ring(0); // has the owner: while that is another recorder, the rest is of no use
    claim(found.name, owner);
    try {
        for (uint32_t cpu = 1; cpu < cpus; ++cpu)
            map_ring(cpu);
    } catch (...) {
        disclaim();
        throw;
    }
}

// A recorder that was killed has left its number.
void ProgramRings::claim(const std::string &name, uint64_t owner)
{
    uint64_t *const place = reinterpret_cast<uint64_t *>(&rings_[0]->meta()->owner);
    uint64_t other = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    do {
        if (other != 0 && is_running(other))
            throw Refusal("program " + name + " is not recorded: process " +
                              std::to_string(NSLICE_BPF_OWNER_PID(other)) +
                              " already records it (one recorder at a time)",
                          EBUSY);
    } while (!__atomic_compare_exchange_n(place, &other, owner, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
}

void ProgramRings::disclaim()
{
    __atomic_store_n(&rings_[0]->meta()->owner, 0, __ATOMIC_RELEASE);
}

ProgramRings::~ProgramRings()
{
    silence();
    for (Sites &sites : sites_)
        munmap(sites.memory, sites.mapped_bytes);
    disclaim();
}

bool ProgramRings::has_sites(uint32_t map) const
{
    return std::ranges::any_of(sites_, [map](const Sites &sites) { return sites.map == map; });
}

void ProgramRings::add_sites(const ProgramMap &map, SiteNumbers &numbers, std::string &chunk)
{
    const auto page = uint32_t(sysconf(_SC_PAGESIZE));
    const size_t bytes = (size_t{map.value_bytes} + page - 1) / page * page;
    void *const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map.descriptor.get(), 0);
    if (memory == MAP_FAILED)
        refuse("the sites of a program cannot be mapped", errno);
    Sites sites = {map.id, static_cast<nslice_bpf_site *>(memory), bytes, read_sites(map), {}};
    for (const nslice_bpf_site &site : sites.copies) {
        const uint16_t number = is_probe(site) ? numbers.of(site, chunk) : uint16_t{0};
        sites.bits.push_back(site.kind == 0 ? 1 : number == 0 ? 0 : site_bits(number, site.kind));
    }
    sites_.push_back(std::move(sites));
}

// Ends are on before, so that few slices begin without an end.
void ProgramRings::select(const std::string &rules)
{
    const auto is_on = [&rules](const nslice_bpf_site &site) {
        return site.kind == 0 || is_unit(site) ||
               nslice_rules_select(rules.c_str(), name_of(site).c_str(), 1);
    };
    for (const bool is_of_ends : {true, false}) {
        for (Sites &sites : sites_) {
            for (size_t i = 0; i < sites.copies.size(); ++i) {
                const nslice_bpf_site &site = sites.copies[i];
                if (is_of_ends == (site.kind == NSLICE_KIND_STOP || site.kind == NSLICE_KIND_EXIT))
                    set_bits(sites.memory[i], is_on(site) ? sites.bits[i] : 0);
            }
        }
    }
}

void ProgramRings::silence()
{
    for (Sites &sites : sites_)
        for (size_t i = 0; i < sites.copies.size(); ++i)
            set_bits(sites.memory[i], 0);
}

// After a recorder that was killed, probes are on.  After any, a program may be in the middle of
// one.
void ProgramRings::begin()
{
    const bool was_on = std::ranges::any_of(sites_, [](const Sites &sites) {
        return std::ranges::any_of(sites.copies,
                                   [](const nslice_bpf_site &site) { return site.bits != 0; });
    });
    const bool was_recorded =
        was_on || std::ranges::any_of(rings_, [](const auto &ring) { return ring->was_used(); });
    if (was_recorded) {
        silence();
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
    }
    // Programs that sleep are not what it has waited for.
    if (was_on ||
        std::ranges::any_of(rings_, [](const auto &ring) { return ring->has_incomplete(); }))
        usleep(kGraceUs);
    for (const auto &ring : rings_)
        ring->begin();
}

ProgramProbes::ProgramProbes(uint32_t cpus, std::string rules, bool is_of_descendants, Tell tell)
    : cpus_(cpus), owner_(own_owner()), tell_(std::move(tell)), maps_(cpus, is_of_descendants),
      numbers_(kFirstSliceId), rules_(std::move(rules))
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
        fresh = std::make_unique<ProgramRings>(std::move(program), cpus_, owner_);
        rings = fresh.get();
    }
    for (const ProgramMap &map : sites)
        if (!rings->has_sites(map.id))
            rings->add_sites(map, numbers_, chunk);
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
    for (FoundProgram &program : found) {
        const uint32_t id = program.id, rings = program.rings[0].id;
        try {
            take(std::move(program), chunk, added);
        } catch (const Refusal &refusal) {
            if (told_.insert(rings).second)
                tell_(refusal.what());
            if (refusal.number() == EBUSY)
                maps_.forget(id);
        }
    }
    if (!found.empty())
        for (const auto &rings : all_)
            rings->select(rules_);
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
    for (const auto &rings : all_)
        rings->select(rules_);
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
        ProgramMaps maps(1, false);
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
