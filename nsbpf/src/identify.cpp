// SPDX-License-Identifier: MIT
// Identify: a program reads the number from the open folder of /proc.
#include "identify.hpp"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "identify.skel.h"
#include "nsbpf/recorder.hpp"

namespace nsbpf
{
namespace
{
thread_local int silences = 0;
std::atomic<libbpf_print_fn_t> print_of_others = nullptr;

int print(libbpf_print_level level, const char *format, va_list words)
{
    const libbpf_print_fn_t of_others = silences > 0 ? nullptr : print_of_others.load();
    return of_others ? of_others(level, format, words) : 0;
}

// The rest of the first line with this name in a file of /proc/self; empty if the file has no such
// line.
std::string own_line(const char *file, const std::string &name)
{
    std::ifstream lines(std::string("/proc/self/") + file);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(name))
            return line.substr(name.size());
    }
    return "";
}

// Why those of this process are not enough, if that can be said.
std::string lacking_capabilities()
{
    const uint64_t own = std::strtoull(own_line("status", "CapEff:").c_str(), nullptr, 16);
    const auto lacks = [own](int number) {
        return !(own & (uint64_t{1} << number | uint64_t{1} << CAP_SYS_ADMIN));
    };
    if (lacks(CAP_BPF) && lacks(CAP_PERFMON))
        return "; this process has neither";
    if (lacks(CAP_BPF) || lacks(CAP_PERFMON))
        return std::string("; this process lacks ") + (lacks(CAP_BPF) ? "CAP_BPF" : "CAP_PERFMON");
    constexpr const char *kAll = "4294967295"; // ids, mapped by the initial user namespace only
    return own_line("uid_map", "").ends_with(kAll) ? ""
                                                   : "; those of a user namespace do not count";
}

std::string remedy(int number)
{
    switch (number) {
    case EPERM:
    case EACCES:
        return " (requires the capabilities CAP_BPF and CAP_PERFMON" + lacking_capabilities() + ")";
    case EMFILE: return " (raise the limit with ulimit -n)";
    case ENOMEM:
        return " (use smaller rings with --kernel-ring, or raise the memory limit of the control "
               "group)";
    default: return "";
    }
}
} // namespace

Silence::Silence()
{
    static std::once_flag once;
    std::call_once(once, [] { print_of_others = libbpf_set_print(print); });
    ++silences;
}

Silence::~Silence()
{
    --silences;
}

void refuse(const std::string &what, int number)
{
    throw Refusal("kernel: " + what + ": " + std::strerror(number) + remedy(number), number);
}

uint32_t identify(const std::string &folder, uint32_t otherwise)
{
    const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0 && (errno == EMFILE || errno == ENFILE))
        refuse(folder, errno);
    if (descriptor < 0)
        return otherwise;
    const std::unique_ptr<nsbpf_identify, decltype(&nsbpf_identify__destroy)> program(
        nsbpf_identify__open(), nsbpf_identify__destroy);
    uint64_t password = 0;
    int result = -errno;
    if (program && getrandom(&password, sizeof(password), 0) == sizeof(password)) {
        program->rodata->nsbpf_password = password;
        result = nsbpf_identify__load(program.get());
        if (result == 0)
            result = nsbpf_identify__attach(program.get());
    }
    if (result == 0)
        syscall(SYS_getppid, password, descriptor);
    close(descriptor);
    if (result != 0)
        refuse("the programs cannot be loaded", -result);
    const int number = program->bss->nsbpf_identified;
    return number > 0 ? uint32_t(number) : otherwise;
}
} // namespace nsbpf
