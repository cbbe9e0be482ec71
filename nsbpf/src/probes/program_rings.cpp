// SPDX-License-Identifier: MIT
// Program rings: sites get numbers, rings an owner.
#include "program_rings.hpp"

#include <algorithm>
#include <cerrno>

#include <linux/membarrier.h>
#include <nslice/record.h>
#include <nslice/rules.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nsbpf/recorder.hpp"
#include "owner.hpp"
#include "src/identify.hpp"
#include "src/point_table.hpp"

namespace nsbpf
{
namespace
{
constexpr uint32_t kGraceUs = 100000; // far longer than a program runs

bool is_unit(const nslice_bpf_site &site)
{
    return site.kind == NSLICE_KIND_INIT || site.kind == NSLICE_KIND_EXIT;
}

void set_bits(nslice_bpf_site &site, uint64_t bits)
{
    __atomic_store_n(&site.bits, bits, __ATOMIC_RELEASE);
}
} // namespace

bool is_probe(const nslice_bpf_site &site)
{
    return site.kind >= NSLICE_KIND_START && site.kind <= NSLICE_KIND_EXIT;
}

uint16_t SiteNumbers::of(const nslice_bpf_site &site, std::string &chunk, uint32_t &room)
{
    const auto place = std::make_tuple(site.kind, site.line, name_of(site), file_of(site));
    if (const auto known = numbers_.find(place); known != numbers_.end())
        return known->second;
    if (next_ > kLast || room == 0) {
        ++unnamed_;
        return 0;
    }
    --room;
    const auto number = uint16_t(next_++);
    numbers_[place] = number;
    by_number_.push_back(is_unit(site) ? kNeverOff : name_place(name_of(site)));
    nslice_file_site row = {};
    row.slice_id = number;
    row.kind = site.kind;
    row.line = site.line;
    row.flags = NSLICE_SITE_IN_PROGRAM;
    append_site(chunk, row, name_of(site), file_of(site));
    return number;
}

ThinName SiteNumbers::name_place(const std::string &name)
{
    const auto next = ThinName(std::min(names_.size(), size_t{kNeverOff}));
    return names_.try_emplace(name, next).first->second;
}

ProgramRings::ProgramRings(FoundProgram found, uint32_t cpus, uint64_t owner, uint32_t room)
    : id_(found.rings[0].id), room_(room)
{
    const uint64_t bytes = found.ring_bytes(), stride = NSLICE_RING_META_BYTES + bytes;
    const auto map_ring = [&](uint32_t cpu) {
        rings_.push_back(std::make_unique<MappedRing>(found.rings[0].descriptor.get(), cpu, bytes,
                                                      cpu * stride));
        rings_.back()->expect(own_);
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

// A recorder that was killed has left its number, and one whose process has executed another
// program the number of the process.
void ProgramRings::claim(const std::string &name, uint64_t owner)
{
    uint64_t *const place = reinterpret_cast<uint64_t *>(&rings_[0]->meta()->owner);
    uint64_t other = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    do {
        if (other != 0 && other != owner && is_running(other))
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

uint32_t ProgramRings::add_sites(const ProgramMap &map, SiteNumbers &numbers, std::string &chunk)
{
    const auto page = uint32_t(sysconf(_SC_PAGESIZE));
    const size_t bytes = (size_t{map.value_bytes} + page - 1) / page * page;
    void *const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map.descriptor.get(), 0);
    if (memory == MAP_FAILED)
        refuse("the sites of a program cannot be mapped", errno);
    Sites sites = {map.id, static_cast<nslice_bpf_site *>(memory), bytes, {}};
    const uint64_t unnamed = numbers.unnamed();
    for (const nslice_bpf_site &site : read_sites(map)) {
        const uint16_t number = is_probe(site) ? numbers.of(site, chunk, room_) : uint16_t{0};
        const uint64_t bits = site.kind == 0 ? 1 : number == 0 ? 0 : site_bits(number, site.kind);
        sites.all.push_back({site, number, bits, numbers.thin_name(number)});
        if (number != 0)
            own_.add(bits);
    }
    sites_.push_back(std::move(sites));
    return uint32_t(numbers.unnamed() - unnamed);
}

void ProgramRings::select(const std::string &rules, const ThinSet &off)
{
    for (Sites &sites : sites_)
        for (Site &site : sites.all)
            site.is_selected = site.copy.kind == 0 || is_unit(site.copy) ||
                               nslice_rules_select(rules.c_str(), name_of(site.copy).c_str(), 1);
    switch_sites(off);
}

// Ends are on before, so that few slices begin without an end.
void ProgramRings::switch_sites(const ThinSet &off)
{
    for (const bool is_of_ends : {true, false}) {
        for (Sites &sites : sites_) {
            for (size_t i = 0; i < sites.all.size(); ++i) {
                const Site &site = sites.all[i];
                const bool is_end =
                    site.copy.kind == NSLICE_KIND_STOP || site.copy.kind == NSLICE_KIND_EXIT;
                if (is_of_ends == is_end)
                    set_bits(sites.memory[i],
                             site.is_selected && !off.has(site.name) ? site.bits : 0);
            }
        }
    }
}

void ProgramRings::thin(const ThinSet &off, std::set<uint16_t> &numbers)
{
    switch_sites(off);
    for (const Sites &sites : sites_)
        for (const Site &site : sites.all)
            if (site.is_selected && site.number != 0 && off.has(site.name))
                numbers.insert(site.number);
}

void ProgramRings::silence()
{
    for (Sites &sites : sites_)
        for (size_t i = 0; i < sites.all.size(); ++i)
            set_bits(sites.memory[i], 0);
}

// After a recorder that was killed, probes are on.  After any, a program may be in the middle of
// one.
void ProgramRings::begin()
{
    const bool was_on = std::ranges::any_of(sites_, [](const Sites &sites) {
        return std::ranges::any_of(sites.all, [](const Site &site) { return site.copy.bits != 0; });
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
} // namespace nsbpf
