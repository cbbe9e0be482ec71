// SPDX-License-Identifier: MIT
// verify: /proc, /sys and a counter's page -> what one must know about a machine to judge its
// counters.
#include "cli/verify/facts.hpp"

#include <algorithm>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <nsprobe/machine.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace nsdump::verify
{
namespace
{
using Path = std::filesystem::path;

std::string line_of(const Path &path)
{
    std::ifstream file(path);
    std::string line;
    return file && std::getline(file, line) ? line : "unknown";
}

// The PMUs of the machine's cores: x86-64's are named cpu or cpu_KIND, arm64's have a file `cpus`.
std::string pmus(const Path &root)
{
    std::vector<std::string> names;
    std::error_code error;
    for (const auto &device :
         std::filesystem::directory_iterator(root / "sys/bus/event_source/devices", error)) {
        std::string name = device.path().filename().string();
        if (name != "cpu" && !name.starts_with("cpu_") &&
            !std::filesystem::exists(device.path() / "cpus", error))
            continue;
        if (const std::string model = line_of(device.path() / "caps/pmu_name"); model != "unknown")
            name += " (" + model + ")";
        names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

// Width in bits of the register that counts instructions; 0 without such a register.
unsigned register_bits()
{
    perf_event_attr attr = {};
    attr.type = PERF_TYPE_HARDWARE;
    attr.size = sizeof(attr);
    attr.config = PERF_COUNT_HW_INSTRUCTIONS;
#if defined(__aarch64__)
    attr.config1 = 3; // user reads of 64 bits: without them the page does not have the width
#endif
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    const int file = int(syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (file < 0)
        return 0;
    const auto bytes = size_t(sysconf(_SC_PAGESIZE));
    void *const memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
    unsigned bits = 0;
    if (memory != MAP_FAILED) {
        bits = static_cast<const volatile perf_event_mmap_page *>(memory)->pmc_width;
        munmap(memory, bytes);
    }
    close(file);
    return bits;
}

std::string user_reads(const Path &root)
{
    const Path x86 = root / "sys/bus/event_source/devices/cpu/rdpmc",
               arm64 = root / "proc/sys/kernel/perf_user_access";
    return line_of(std::filesystem::exists(x86) ? x86 : arm64);
}
} // namespace

Facts read_facts(const Path &root)
{
    nsp_machine machine;
    nsp_machine_read(&machine);
    utsname kernel{};
    uname(&kernel);
    const unsigned bits = register_bits();
    return {
        {"nsdump", NETSLICE_VERSION},
        {"cpu", fmt::format("{} ({})", machine.cpu_model, machine.arch)},
        {"cpus", fmt::format("{}", sysconf(_SC_NPROCESSORS_ONLN))},
        {"kernel", fmt::format("{} {}", kernel.sysname, kernel.release)},
        {"virtualised", machine.hypervisor},
        {"pmu", pmus(root)},
        {"register_bits", bits ? fmt::format("{}", bits) : "unknown"},
        {"perf_event_paranoid", line_of(root / "proc/sys/kernel/perf_event_paranoid")},
        {"rdpmc", user_reads(root)},
        {"nmi_watchdog", line_of(root / "proc/sys/kernel/nmi_watchdog")},
        {"perf_event_max_sample_rate",
         line_of(root / "proc/sys/kernel/perf_event_max_sample_rate")},
    };
}
} // namespace nsdump::verify
