// SPDX-License-Identifier: MIT
// Descendants: /proc/PID/task/TID/children, fd and fdinfo.
#include "descendants.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

namespace nsbpf
{
namespace
{
namespace fs = std::filesystem;

// The process may end meanwhile: then there are no more.
template <class Visit> void for_each_in(const std::string &folder, const Visit &visit)
{
    std::error_code error;
    for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
         at.increment(error))
        visit(at->path());
}

std::vector<pid_t> children_of(pid_t process)
{
    std::vector<pid_t> all;
    const std::string folder = "/proc/" + std::to_string(process) + "/task";
    for_each_in(folder, [&all](const fs::path &thread) {
        std::ifstream list(thread / "children");
        for (pid_t child; list >> child;)
            all.push_back(child);
    });
    return all;
}

// The line "KEY:<tab>NUMBER" of a descriptor's fdinfo; 0: none.
uint32_t read_id(const std::string &process, const std::string &number, const std::string &key)
{
    std::ifstream file(process + "/fdinfo/" + number);
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key + ":"))
            return uint32_t(std::strtoul(line.c_str() + key.size() + 1, nullptr, 10));
    return 0;
}

// folder: the process's in /proc.
void add_objects_of(pid_t process, const std::string &folder, OpenObjects &objects)
{
    for_each_in(folder + "/fd", [&](const fs::path &path) {
        std::error_code ignored;
        const std::string target = fs::read_symlink(path, ignored).string();
        const std::string number = path.filename().string();
        const OpenObject object = {process, std::atoi(number.c_str())};
        if (target == "anon_inode:bpf-prog")
            objects.programs.emplace(read_id(folder, number, "prog_id"), object);
        else if (target == "anon_inode:bpf-map")
            objects.maps.emplace(read_id(folder, number, "map_id"), object);
    });
}
} // namespace

OpenObjects objects_of_descendants()
{
    OpenObjects objects;
    std::vector<pid_t> left = children_of(getpid());
    while (!left.empty()) {
        const pid_t process = left.back();
        left.pop_back();
        add_objects_of(process, "/proc/" + std::to_string(process), objects);
        for (const pid_t child : children_of(process))
            left.push_back(child);
    }
    return objects;
}

OpenObjects own_objects()
{
    OpenObjects objects;
    add_objects_of(getpid(), "/proc/self", objects); // which may be of another pid namespace
    return objects;
}

int open_object(const OpenObject &object)
{
    const int process = int(syscall(SYS_pidfd_open, object.process, 0));
    if (process < 0)
        return -1;
    const int copy = int(syscall(SYS_pidfd_getfd, process, object.number, 0));
    close(process);
    return copy;
}
} // namespace nsbpf
