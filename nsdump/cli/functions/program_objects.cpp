// SPDX-License-Identifier: MIT
// cli: a program, or a process -> the ELF files that its code is in.
#include "cli/functions/program_objects.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
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

// Code that a program generated may be in any file, or in a device; what cannot be read is not
// known to be another file.
bool is_elf(const std::string &path)
{
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0)
        return true;
    if (!S_ISREG(status.st_mode))
        return false;
    std::ifstream file(path, std::ios::binary);
    char start[SELFMAG] = {};
    return !file || (file.read(start, SELFMAG) && std::equal(start, start + SELFMAG, ELFMAG));
}

struct Mapped {
    std::string path;
    bool is_deleted;
};

// Files with code that the process has mapped, in the order of their addresses.
std::vector<Mapped> mapped_code(pid_t pid)
{
    std::ifstream maps(fmt::format("/proc/{}/maps", pid));
    std::vector<Mapped> all;
    for (std::string line; std::getline(maps, line);) {
        std::istringstream fields(line);
        std::string range, rights, offset, device, inode, path;
        fields >> range >> rights >> offset >> device >> inode >> std::ws;
        std::getline(fields, path);
        const bool is_deleted = path.ends_with(kDeleted);
        if (is_deleted)
            path.resize(path.size() - kDeleted.size());
        if (rights.size() < 3 || rights[2] != 'x' || !path.starts_with('/') ||
            std::ranges::any_of(all, [&](const Mapped &one) { return one.path == path; }))
            continue;
        all.push_back({path, is_deleted});
    }
    return all;
}
} // namespace

std::vector<ElfObject> objects_of_program(const std::string &program)
{
    const std::string path = path_of(program);
    std::vector<ElfObject> objects = {read_elf(path, program)};
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
    const bool is_elsewhere = !is_same_file(folder + "/root", "/");
    std::vector<ElfObject> objects;
    for (const Mapped &one : mapped_code(pid)) {
        const std::string path = is_elsewhere ? folder + "/root" + one.path : one.path;
        if (!one.is_deleted && (is_elf(path) || is_same_file(path, folder + "/exe")))
            objects.push_back(read_elf(path, one.path));
    }
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
