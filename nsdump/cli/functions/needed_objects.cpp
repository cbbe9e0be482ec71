// SPDX-License-Identifier: MIT
// cli: a program -> the files of the shared objects that the dynamic loader would load with it.
#include "cli/functions/needed_objects.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <limits.h>

#include "cli/functions/elf_image.hpp"
#include "cli/functions/hardware_folders.hpp"
#include "cli/functions/regular_file.hpp"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
constexpr const char *kCache = "/etc/ld.so.cache";
constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr size_t kMostObjects = 1000, kMostNames = 1000, kMostFolders = 100;

struct CacheHead {
    char magic[20];
    uint32_t count, string_bytes, flags_and_extension[5];
};
static_assert(sizeof(CacheHead) == 48);

struct CacheEntry {
    int32_t flags;
    uint32_t name, path, os_version; // offsets in the file
    uint64_t hardware;               // not 0: for some processors
};
static_assert(sizeof(CacheEntry) == 24);

struct Cached {
    std::string name, path;
    size_t rank;
};

struct Dynamic {
    unsigned kind = 0; // machine and class; 0: not an ELF file
    std::vector<std::string> needed;
    std::string rpath, runpath;
};

void take_dynamic(ElfImage &image, Dynamic &dynamic)
{
    for (const ElfImage::Section &section : image.sections()) {
        if (section.header.sh_type != SHT_DYNAMIC)
            continue;
        image.each_dynamic(section, [&](const GElf_Dyn &one, const std::string &text) {
            if (one.d_tag == DT_NEEDED && dynamic.needed.size() < kMostNames)
                dynamic.needed.push_back(text);
            else if (one.d_tag == DT_RPATH)
                dynamic.rpath = text;
            else if (one.d_tag == DT_RUNPATH)
                dynamic.runpath = text;
        });
    }
}

Dynamic read_dynamic(const std::string &path)
{
    Dynamic dynamic;
    RegularFile file(path);
    try {
        ElfImage image(file.bytes(), path);
        dynamic.kind = image.kind();
        take_dynamic(image, dynamic);
    } catch (const TraceError &) { // not what the loader would take
        return {};
    }
    if (!dynamic.runpath.empty())
        dynamic.rpath.clear(); // as the loader does
    return dynamic;
}

std::string text_at(const std::string &file, size_t offset)
{
    return offset < file.size() ? std::string(file.c_str() + offset) : std::string();
}

// Place of an entry in the loader's order: those for this processor first, the best one before the
// others, then those for all; beyond: for others only.
size_t rank_of(const CacheEntry &entry, const std::string &path,
               const std::vector<std::string> &hardware)
{
    if (entry.hardware == 0)
        return hardware.size();
    const auto at = std::ranges::find_if(hardware, [&path](const std::string &folder) {
        return path.find("/" + folder + "/") != path.npos;
    });
    return at == hardware.end() ? hardware.size() + 1 : size_t(at - hardware.begin());
}

// In the loader's order.
std::vector<Cached> read_cache(const std::vector<std::string> &hardware)
{
    std::ifstream stream(kCache, std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(stream), {}};
    CacheHead head;
    std::vector<Cached> all;
    if (file.size() < sizeof(head) || !file.starts_with(kMagic))
        return all;
    std::memcpy(&head, file.data(), sizeof(head));
    const size_t room = (file.size() - sizeof(head)) / sizeof(CacheEntry);
    for (size_t i = 0; i < std::min(room, size_t(head.count)); ++i) {
        CacheEntry entry;
        std::memcpy(&entry, file.data() + sizeof(head) + i * sizeof(entry), sizeof(entry));
        const std::string path = text_at(file, entry.path);
        if (const size_t rank = rank_of(entry, path, hardware); rank <= hardware.size())
            all.push_back({text_at(file, entry.name), path, rank});
    }
    std::ranges::stable_sort(all, {}, &Cached::rank);
    return all;
}

std::string real_path(const std::string &path)
{
    char real[PATH_MAX];
    return realpath(path.c_str(), real) ? real : path;
}

// Of a list as in RUNPATH and LD_LIBRARY_PATH.
std::vector<std::string> folders_of(const std::string &list, const std::string &of_object)
{
    std::vector<std::string> folders;
    std::istringstream parts(list);
    const std::string file = real_path(of_object);
    const std::string origin = file.substr(0, file.rfind('/'));
    for (std::string folder; folders.size() < kMostFolders && std::getline(parts, folder, ':');) {
        for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"})
            for (size_t at = 0; (at = folder.find(word, at)) != folder.npos; at += origin.size())
                folder.replace(at, word.size(), origin);
        if (!folder.empty())
            folders.push_back(folder);
    }
    return folders;
}

struct Loaded {
    std::string path;
    Dynamic dynamic;
    std::vector<std::string> rpath; // its own, and of those that need it
};

Loaded load(const std::string &path, Dynamic dynamic, const std::vector<std::string> &inherited)
{
    std::vector<std::string> rpath = folders_of(dynamic.rpath, path);
    const size_t room = kMostFolders - rpath.size();
    rpath.insert(rpath.end(), inherited.begin(),
                 inherited.begin() + ptrdiff_t(std::min(room, inherited.size())));
    return {path, std::move(dynamic), std::move(rpath)};
}

class Search
{
public:
    explicit Search(const Loaded &program)
        : kind_(program.dynamic.kind), cache_(read_cache(hardware_))
    {
        const char *const list = getenv("LD_LIBRARY_PATH");
        environment_ = folders_of(list ? list : "", program.path);
    }

    // RPATH is inherited by what an object needs, RUNPATH is not.
    std::optional<Loaded> find(const std::string &name, const Loaded &by) const
    {
        for (const std::string &path : candidates(name, by)) {
            Dynamic dynamic = read_dynamic(path);
            if (dynamic.kind == kind_)
                return load(path, std::move(dynamic), by.rpath);
        }
        return std::nullopt;
    }

private:
    std::vector<std::string> candidates(const std::string &name, const Loaded &by) const
    {
        if (name.find('/') != name.npos)
            return {name};
        std::vector<std::string> folders, paths;
        if (by.dynamic.runpath.empty())
            folders = by.rpath;
        std::ranges::copy(environment_, std::back_inserter(folders));
        std::ranges::copy(folders_of(by.dynamic.runpath, by.path), std::back_inserter(folders));
        for (const std::string &folder : folders)
            add(paths, folder, name);
        for (const Cached &one : cache_)
            if (one.name == name)
                paths.push_back(one.path);
        for (const char *folder : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"})
            add(paths, folder, name);
        return paths;
    }
    void add(std::vector<std::string> &paths, const std::string &folder,
             const std::string &name) const
    {
        for (const std::string &best : hardware_)
            paths.push_back(fmt::format("{}/{}/{}", folder, best, name));
        paths.push_back(folder + "/" + name);
    }

    const std::vector<std::string> hardware_ = hardware_folders();
    unsigned kind_;
    std::vector<Cached> cache_;
    std::vector<std::string> environment_;
};

std::vector<std::string> preloaded()
{
    const char *const list = getenv("LD_PRELOAD");
    std::string text = list ? list : "";
    std::ranges::replace(text, ':', ' ');
    std::istringstream words(text);
    return {std::istream_iterator<std::string>(words), {}};
}
} // namespace

std::vector<std::string> needed_objects(const std::string &program)
{
    std::vector<Loaded> loaded = {load(program, read_dynamic(program), {})};
    const std::vector<std::string> first = preloaded();
    loaded[0].dynamic.needed.insert(loaded[0].dynamic.needed.begin(), first.begin(), first.end());
    const Search search(loaded[0]);
    std::set<std::string> names, files = {real_path(program)};
    std::vector<std::string> paths;
    for (size_t i = 0; i < loaded.size() && loaded.size() < kMostObjects; ++i) {
        const Loaded by = loaded[i];
        for (const std::string &name : by.dynamic.needed) {
            if (names.size() == kMostNames || !names.insert(name).second)
                continue;
            std::optional<Loaded> found = search.find(name, by);
            if (found && files.insert(real_path(found->path)).second) {
                paths.push_back(found->path);
                loaded.push_back(std::move(*found));
            }
        }
    }
    return paths;
}
} // namespace nsdump
