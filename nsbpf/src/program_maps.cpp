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

void take_map(uint32_t id, Descriptor descriptor, FoundProgram &program)
{
    bpf_map_info info = {};
    uint32_t bytes = sizeof(info);
    if (descriptor.get() < 0 || bpf_obj_get_info_by_fd(descriptor.get(), &info, &bytes) != 0 ||
        info.type != BPF_MAP_TYPE_ARRAY || !(info.map_flags & BPF_F_MMAPABLE))
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

// Nothing if the program has no probes, or has gone.
template <class OpenMap>
std::optional<FoundProgram> examine(uint32_t id, const Descriptor &descriptor,
                                    const OpenMap &open_map, uint32_t cpus)
{
    std::vector<uint32_t> maps(kMostMaps);
    bpf_prog_info info = {};
    info.nr_map_ids = kMostMaps;
    info.map_ids = reinterpret_cast<uintptr_t>(maps.data());
    uint32_t bytes = sizeof(info);
    if (descriptor.get() < 0 || bpf_obj_get_info_by_fd(descriptor.get(), &info, &bytes) != 0)
        return std::nullopt;
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

std::vector<FoundProgram> ProgramMaps::look_at_descendants()
{
    std::vector<FoundProgram> found;
    const OpenObjects objects = objects_of_descendants();
    const auto open_map = [&objects](uint32_t id) {
        const auto map = objects.maps.find(id);
        return map == objects.maps.end() ? -1 : open_object(map->second);
    };
    for (const auto &[id, object] : objects.programs) {
        if (!loaded_.insert(id).second)
            continue;
        const Descriptor descriptor(open_object(object));
        if (descriptor.get() < 0 && errno == EPERM)
            throw Refusal("kernel: programs of process " + std::to_string(object.process) +
                              " cannot be opened: " + std::strerror(EPERM) +
                              " (requires the capability CAP_SYS_ADMIN, or CAP_SYS_PTRACE)",
                          EPERM);
        if (std::optional<FoundProgram> program = examine(id, descriptor, open_map, cpus_))
            found.push_back(std::move(*program));
    }
    return found;
}

std::vector<FoundProgram> ProgramMaps::look()
{
    if (is_of_descendants_)
        return look_at_descendants();
    std::vector<FoundProgram> found;
    std::set<uint32_t> loaded;
    for (uint32_t id = 0; bpf_prog_get_next_id(id, &id) == 0;) {
        loaded.insert(id);
        if (loaded_.contains(id))
            continue;
        const Descriptor descriptor(bpf_prog_get_fd_by_id(id));
        if (descriptor.get() < 0 && errno == EPERM)
            refuse_list(EPERM);
        if (std::optional<FoundProgram> program =
                examine(id, descriptor, bpf_map_get_fd_by_id, cpus_))
            found.push_back(std::move(*program));
    }
    if (errno != ENOENT)
        refuse_list(errno);
    loaded_ = std::move(loaded);
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
