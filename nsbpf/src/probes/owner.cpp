// SPDX-License-Identifier: MIT
// Owner: number and start of a process, both as in the initial pid namespace.
#include "owner.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <nslice/bpf_site.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/identify.hpp"

namespace nsbpf
{
namespace
{
constexpr ino_t kInitialNamespace = 0xeffffffc; // the kernel's PROC_PID_INIT_INO
constexpr int kStartField = 22;                 // of /proc/PID/stat, see proc(5)

bool is_initial_namespace()
{
    struct stat found = {};
    return stat("/proc/self/ns/pid", &found) == 0 && found.st_ino == kInitialNamespace;
}

// False: there is no such process.
bool read_start(const std::string &process, uint32_t &start)
{
    std::ifstream file("/proc/" + process + "/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    size_t at = text.rfind(')'); // ends field 2, the name
    if (at == std::string::npos)
        return false;
    for (int field = 2; field < kStartField && at != std::string::npos; ++field)
        at = text.find(' ', at + 1);
    start = at == std::string::npos ? 0 : uint32_t(std::strtoull(text.c_str() + at, nullptr, 10));
    return true;
}
} // namespace

uint64_t own_owner()
{
    uint32_t start = 0;
    read_start("self", start);
    const auto own = uint32_t(getpid());
    return NSLICE_BPF_OWNER(is_initial_namespace() ? own : identify("/proc/self", own), start);
}

bool is_running(uint64_t owner)
{
    if (!is_initial_namespace()) // its number there is not that of another namespace
        return true;
    uint32_t start = 0;
    return read_start(std::to_string(NSLICE_BPF_OWNER_PID(owner)), start) &&
           start == uint32_t(owner >> 32);
}
} // namespace nsbpf
