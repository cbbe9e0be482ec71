// SPDX-License-Identifier: MIT
// environment: /proc, /sys and the CPU's flags -> the context needed to interpret the figures.
#include "environment.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

namespace calibrate
{
namespace
{
std::optional<std::string> first_line(const std::filesystem::path &path)
{
    std::ifstream file(path);
    std::string line;
    if (!file || !std::getline(file, line))
        return std::nullopt;
    return line;
}

std::optional<bool> flag_of(const std::filesystem::path &path, const char *yes = "1")
{
    const auto line = first_line(path);
    return line ? std::optional<bool>(*line == yes) : std::nullopt;
}

std::optional<bool> turbo(const std::filesystem::path &root)
{
    if (const auto off = flag_of(root / "sys/devices/system/cpu/intel_pstate/no_turbo"))
        return !*off;
    return flag_of(root / "sys/devices/system/cpu/cpufreq/boost");
}

double load_1min(const std::filesystem::path &root)
{
    double load = 0;
    std::ifstream(root / "proc/loadavg") >> load;
    return load;
}

std::string kernel_name()
{
    utsname name{};
    uname(&name);
    return fmt::format("{} {}", name.sysname, name.release);
}

std::string utc_now()
{
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    char text[32];
    gmtime_r(&now, &parts);
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

std::string compiler_name()
{
#if defined(__clang__)
    return __VERSION__;
#else
    return "gcc " __VERSION__;
#endif
}

#if defined(__has_feature)
#define CALIBRATE_HAS(feature) __has_feature(feature)
#else
#define CALIBRATE_HAS(feature) 0
#endif

std::string sanitizer_name()
{
#if defined(__SANITIZE_ADDRESS__) || CALIBRATE_HAS(address_sanitizer)
    return "address";
#elif defined(__SANITIZE_THREAD__) || CALIBRATE_HAS(thread_sanitizer)
    return "thread";
#else
    return "";
#endif
}
} // namespace

bool cpu_list_has(const std::string &list, unsigned cpu)
{
    std::istringstream parts(list);
    std::string part;
    while (std::getline(parts, part, ',')) {
        unsigned first = 0, last = 0;
        const char *end = part.data() + part.size();
        const auto one = std::from_chars(part.data(), end, first);
        if (one.ec != std::errc())
            continue;
        last = first;
        if (one.ptr != end && *one.ptr == '-')
            std::from_chars(one.ptr + 1, end, last);
        if (first <= cpu && cpu <= last)
            return true;
    }
    return false;
}

bool is_virtual(const Environment &environment)
{
    return std::string_view(environment.machine.hypervisor) != "none";
}

std::optional<double> read_steal_seconds(const std::filesystem::path &root, unsigned cpu)
{
    std::ifstream file(root / "proc/stat");
    const std::string wanted = fmt::format("cpu{}", cpu);
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string name;
        double user, nice, system, idle, iowait, irq, softirq, steal;
        words >> name;
        if (name != wanted)
            continue;
        if (words >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal)
            return steal / double(sysconf(_SC_CLK_TCK));
    }
    return std::nullopt;
}

Environment read_environment(const std::filesystem::path &root, unsigned cpu,
                             const nsp_machine &machine)
{
    const std::filesystem::path cpus = root / "sys/devices/system/cpu";
    Environment out;
    out.machine = machine;
    out.cpu = cpu;
    out.cpus = uint32_t(sysconf(_SC_NPROCESSORS_ONLN));
    out.kernel = kernel_name();
    out.compiler = compiler_name();
    out.date = utc_now();
    out.sanitizer = sanitizer_name();
    out.governor = first_line(cpus / fmt::format("cpu{}/cpufreq/scaling_governor", cpu));
    out.clock_source =
        first_line(root / "sys/devices/system/clocksource/clocksource0/current_clocksource");
    out.is_smt_active = flag_of(cpus / "smt/active");
    out.is_turbo_on = turbo(root);
    out.siblings = first_line(cpus / fmt::format("cpu{}/topology/thread_siblings_list", cpu));
    out.is_isolated = cpu_list_has(first_line(cpus / "isolated").value_or(""), cpu);
    out.load_1min = load_1min(root);
    return out;
}
} // namespace calibrate
