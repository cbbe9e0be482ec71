// SPDX-License-Identifier: MIT
// Program maps: the kernel's lists of programs and maps.
#include "program_maps.hpp"

#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>

#include <bpf/bpf.h>
#include <nslice/ring.h>
#include <unistd.h>

#include "descendants.hpp"
#include "nsbpf/recorder.hpp"
#include "src/identify.hpp"

namespace nsbpf
{
namespace
{
constexpr uint64_t kLeastRingBytes = 4096;
constexpr size_t kMostMaps = 1024;

[[noreturn]] void refuse_list(int number)
{
    throw Refusal(std::string("kernel: loaded programs cannot be listed: ") +
                      std::strerror(number) +
                      (number == EPERM ? " (requires the capability CAP_SYS_ADMIN)" : ""),
                  number);
}

bool is_sites(const std::string &name)
{
    return name == NSLICE_BPF_SITES || name.ends_with(NSLICE_BPF_SITES_SECTION);
}

// Of opening it; anything else is no reason to believe that a program has no probes.
bool has_gone(int number)
{
    return number == ENOENT || number == ESRCH || number == EBADF;
}

// Throws Refusal; with ENOENT if this is another object, as a process's descriptor may have become.
template <class Info>
void read_info(const char *kind, uint32_t id, const Descriptor &descriptor, Info &info)
{
    uint32_t bytes = sizeof(info);
    int number = errno; // of opening it
    if (descriptor.get() >= 0)
        number = bpf_obj_get_info_by_fd(descriptor.get(), &info, &bytes) != 0 ? errno
                 : info.id != id                                              ? ENOENT
                                                                              : 0;
    if (number != 0)
        refuse("BPF " + std::string(kind) + " " + std::to_string(id) + " cannot be examined",
               number);
}

void take_map(uint32_t id, Descriptor descriptor, FoundProgram &program)
{
    if (descriptor.get() < 0 && has_gone(errno))
        return;
    bpf_map_info info = {};
    read_info("map", id, descriptor, info);
    if (info.type != BPF_MAP_TYPE_ARRAY || !(info.map_flags & BPF_F_MMAPABLE))
        return;
    const std::string name(info.name, strnlen(info.name, sizeof(info.name)));
    if (name == NSLICE_BPF_RINGS)
        program.rings.push_back({id, std::move(descriptor), info.value_size, info.max_entries});
    else if (is_sites(name))
        program.sites.push_back({id, std::move(descriptor), info.value_size, info.max_entries});
}

std::string fault_of(const FoundProgram &program, uint32_t cpus)
{
    if (program.rings.size() > 1)
        return "it has several maps " NSLICE_BPF_RINGS;
    const uint64_t bytes = program.ring_bytes();
    if (bytes < kLeastRingBytes || !std::has_single_bit(bytes))
        return "its rings are not of a power of two of 4 KiB or more";
    if (program.rings[0].entries < cpus)
        return "it has rings for " + std::to_string(program.rings[0].entries) + " of " +
               std::to_string(cpus) +
               " CPUs (call nsp_bpf_prepare() before it is loaded, or build it with "
               "NSLICE_BPF_CPUS=" +
               std::to_string(cpus) + ")";
    for (const ProgramMap &sites : program.sites)
        if (sites.entries != 1 || sites.value_bytes % sizeof(nslice_bpf_site) != 0)
            return "its sites have another size (it was built with another version)";
    return "";
}

// Nothing if the program has no probes.  Throws Refusal.
template <class OpenMap>
std::optional<FoundProgram> examine(uint32_t id, const Descriptor &descriptor,
                                    const OpenMap &open_map, uint32_t cpus)
{
    std::vector<uint32_t> maps(kMostMaps);
    bpf_prog_info info = {};
    info.nr_map_ids = kMostMaps;
    info.map_ids = reinterpret_cast<uintptr_t>(maps.data());
    read_info("program", id, descriptor, info);
    FoundProgram program = {
        id, std::string(info.name, strnlen(info.name, sizeof(info.name))), {}, {}, ""};
    for (size_t i = 0; i < std::min<size_t>(info.nr_map_ids, kMostMaps); ++i)
        take_map(maps[i], Descriptor(open_map(maps[i])), program);
    if (program.rings.empty() || program.sites.empty())
        return std::nullopt;
    program.fault = fault_of(program, cpus);
    return program;
}

std::string text_of(const char *text, size_t room)
{
    std::string copy(text, strnlen(text, room));
    for (char &letter : copy)
        letter = static_cast<unsigned char>(letter) < ' ' || letter == 0x7f ? '?' : letter;
    return copy;
}
} // namespace

Descriptor::~Descriptor()
{
    if (number_ >= 0)
        close(number_);
}

uint64_t FoundProgram::ring_bytes() const
{
    const uint64_t bytes = rings[0].value_bytes;
    return bytes < NSLICE_RING_META_BYTES ? 0 : bytes - NSLICE_RING_META_BYTES;
}

bool may_list_programs()
{
    uint32_t id = 0;
    return bpf_prog_get_next_id(0, &id) == 0 || errno != EPERM;
}

// What could not be examined is tried again by the next look.
template <class OpenMap>
void ProgramMaps::examine_new(uint32_t id, int opened, const OpenMap &open_map,
                              std::vector<FoundProgram> &found)
{
    const Descriptor descriptor(opened);
    try {
        if (std::optional<FoundProgram> program = examine(id, descriptor, open_map, cpus_))
            found.push_back(std::move(*program));
        loaded_.insert(id);
    } catch (const Refusal &refusal) {
        if (!has_gone(refusal.number()))
            failures_.emplace_back(refusal.what());
    }
}

std::vector<FoundProgram> ProgramMaps::look_at(const OpenObjects &objects)
{
    std::vector<FoundProgram> found;
    const auto open_map = [&objects](uint32_t id) {
        const auto map = objects.maps.find(id);
        errno = ENOENT;
        return map == objects.maps.end() ? -1 : open_object(map->second);
    };
    for (const auto &[id, object] : objects.programs) {
        if (loaded_.contains(id))
            continue;
        const int opened = open_object(object);
        if (opened < 0 && errno == EPERM)
            failures_.push_back("kernel: programs of process " + std::to_string(object.process) +
                                " cannot be opened: " + std::strerror(EPERM) +
                                " (requires the capability CAP_SYS_ADMIN, or CAP_SYS_PTRACE)");
        else
            examine_new(id, opened, open_map, found);
    }
    return found;
}

std::vector<FoundProgram> ProgramMaps::look()
{
    failures_.clear();
    if (whose_ != Whose::kAnybody)
        return look_at(whose_ == Whose::kOwn ? own_objects() : objects_of_descendants());
    std::set<uint32_t> loaded;
    for (uint32_t id = 0; bpf_prog_get_next_id(id, &id) == 0;)
        loaded.insert(id);
    if (errno != ENOENT)
        refuse_list(errno);
    std::erase_if(loaded_, [&loaded](uint32_t id) { return !loaded.contains(id); });
    std::vector<FoundProgram> found;
    for (const uint32_t id : loaded)
        if (!loaded_.contains(id))
            examine_new(id, bpf_prog_get_fd_by_id(id), bpf_map_get_fd_by_id, found);
    return found;
}

std::vector<nslice_bpf_site> read_sites(const ProgramMap &map)
{
    const size_t whole = map.value_bytes / sizeof(nslice_bpf_site);
    std::vector<nslice_bpf_site> sites(whole + 1); // the kernel copies the rest of the value, too
    const uint32_t only = 0;
    const bool is_read = bpf_map_lookup_elem(map.descriptor.get(), &only, sites.data()) == 0;
    sites.resize(is_read ? whole : 0);
    return sites;
}

std::string name_of(const nslice_bpf_site &site)
{
    return text_of(site.name, sizeof(site.name));
}

std::string file_of(const nslice_bpf_site &site)
{
    return text_of(site.file, sizeof(site.file));
}
} // namespace nsbpf
