// SPDX-License-Identifier: MIT
// cli: a program, or a process -> the ELF files that its code is in.
#include "cli/functions/program_objects.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/functions/needed_objects.hpp"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
constexpr std::string_view kDeleted = " (deleted)";

// As execvp() finds it.
std::string path_of(const std::string &program)
{
    if (program.find('/') != program.npos)
        return program;
    const char *const list = getenv("PATH");
    std::istringstream folders(list ? list : "/bin:/usr/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::string path = (folder.empty() ? "." : folder) + "/" + program;
        struct stat status = {};
        if (access(path.c_str(), X_OK) == 0 && stat(path.c_str(), &status) == 0 &&
            S_ISREG(status.st_mode))
            return path;
    }
    throw TraceError(
        fmt::format("{}: cannot start: No such file or directory (check the name)", program));
}

bool is_same_file(const std::string &a, const std::string &b)
{
    struct stat one = {}, other = {};
    return stat(a.c_str(), &one) == 0 && stat(b.c_str(), &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool starts_as_elf(const RegularFile &file)
{
    char start[SELFMAG] = {};
    return pread(file.descriptor(), start, SELFMAG, 0) == SELFMAG &&
           std::equal(start, start + SELFMAG, ELFMAG);
}

struct Mapping {
    std::string path; // in the process's mount namespace
    std::string link; // to the file itself, which needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE
    dev_t device;
    ino_t inode;
    bool is_deleted;
};

// As in maps, "7f0012340000-7f0012341000"; links to the files have no leading zeros.
std::string link_of(pid_t pid, const std::string &range)
{
    const size_t dash = range.find('-');
    return fmt::format(
        "/proc/{}/map_files/{:x}-{:x}", pid, std::strtoull(range.c_str(), nullptr, 16),
        dash == range.npos ? 0 : std::strtoull(range.c_str() + dash + 1, nullptr, 16));
}

// "08:02"
dev_t device_of(const std::string &text)
{
    const size_t colon = text.find(':');
    return makedev(
        unsigned(std::strtoul(text.c_str(), nullptr, 16)),
        colon == text.npos ? 0 : unsigned(std::strtoul(text.c_str() + colon + 1, nullptr, 16)));
}

// Files with code that the process has mapped, in the order of their addresses.
std::vector<Mapping> mapped_code(pid_t pid)
{
    std::ifstream maps(fmt::format("/proc/{}/maps", pid));
    std::vector<Mapping> all;
    for (std::string line; std::getline(maps, line);) {
        std::istringstream fields(line);
        std::string range, rights, offset, device;
        Mapping one = {};
        fields >> range >> rights >> offset >> device >> one.inode >> std::ws;
        std::getline(fields, one.path);
        one.is_deleted = one.path.ends_with(kDeleted);
        if (one.is_deleted)
            one.path.resize(one.path.size() - kDeleted.size());
        if (rights.size() < 3 || rights[2] != 'x' || !one.path.starts_with('/') ||
            std::ranges::any_of(all, [&](const Mapping &other) {
                return other.path == one.path && other.inode == one.inode;
            }))
            continue;
        one.device = device_of(device);
        one.link = link_of(pid, range);
        all.push_back(one);
    }
    return all;
}

// File systems without a device of their own (btrfs, overlayfs) have several numbers for it.
bool is_file_of(const Mapping &mapping, const struct stat &status)
{
    struct stat mapped = {};
    if (stat(mapping.link.c_str(), &mapped) == 0)
        return mapped.st_dev == status.st_dev && mapped.st_ino == status.st_ino;
    const bool has_device = major(mapping.device) != 0 && major(status.st_dev) != 0;
    return mapping.inode == status.st_ino && (!has_device || mapping.device == status.st_dev);
}

// A path may lead to another file by now, or in this mount namespace.  Code that a program
// generated may be in any file, or in a device.
void add_object(std::vector<ElfObject> &objects, const Mapping &mapping, const std::string &path)
{
    int number = 0;
    for (const std::string &candidate : {path, mapping.link}) {
        RegularFile file(candidate);
        number = number ? number : file.number();
        if (!file.is_open() || !is_file_of(mapping, file.status()))
            continue;
        if (starts_as_elf(file))
            objects.push_back(read_elf(file, candidate, mapping.path));
        return;
    }
    if (number != 0 && number != ENOENT && !mapping.is_deleted)
        throw TraceError(fmt::format("{}: cannot be read: {}", mapping.path, strerror(number)));
}

bool is_same_link(const std::string &a, const std::string &b)
{
    std::error_code ignored;
    return std::filesystem::read_symlink(a, ignored) == std::filesystem::read_symlink(b, ignored);
}

// Where this process finds what the other one calls "/"; "" if it is the same.
std::string root_of(pid_t pid)
{
    const std::string folder = fmt::format("/proc/{}", pid);
    return is_same_link(folder + "/ns/mnt", "/proc/self/ns/mnt") &&
                   is_same_file(folder + "/root", "/")
               ? ""
               : folder + "/root";
}
} // namespace

std::vector<ElfObject> objects_of_program(const std::string &program)
{
    const std::string path = path_of(program);
    std::vector<ElfObject> objects;
    objects.push_back(read_elf(path, program));
    if (objects[0].interpreter.empty())
        return objects;
    for (const std::string &other : needed_objects(path))
        objects.push_back(read_elf(other, other));
    return objects;
}

std::vector<ElfObject> objects_of_process(pid_t pid)
{
    const std::string folder = fmt::format("/proc/{}", pid);
    if (access(folder.c_str(), F_OK) != 0)
        throw TraceError(fmt::format("process {}: does not exist", pid));
    const std::string root = root_of(pid);
    std::vector<ElfObject> objects;
    for (const Mapping &mapping : mapped_code(pid))
        add_object(objects, mapping, root + mapping.path);
    const auto own = std::ranges::find_if(objects, [&](const ElfObject &object) {
        return is_same_file(object.path, folder + "/exe");
    });
    if (own == objects.end())
        throw TraceError(
            fmt::format("process {}: its program cannot be read (permission denied, or the file "
                        "was deleted)",
                        pid));
    std::rotate(objects.begin(), own, own + 1);
    return objects;
}
} // namespace nsdump
