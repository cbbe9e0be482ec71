// SPDX-License-Identifier: MIT
// environment: /proc, /sys and the CPU's flags -> the context needed to interpret the figures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <nsprobe/machine.h>

namespace calibrate
{
// Values that the machine does not report are absent, not guessed.
struct Environment {
    nsp_machine machine = {};
    unsigned cpu = 0; // the one measured on
    uint32_t cpus = 0;
    std::string kernel;
    std::string compiler;
    std::string date;
    std::string sanitizer; // empty: none
    std::optional<std::string> governor;
    std::optional<std::string> clock_source; // the kernel's own
    std::optional<bool> is_smt_active;
    std::optional<bool> is_turbo_on;
    std::optional<std::string> siblings; // list of the threads of the CPU's core
    bool is_isolated = false;
    double load_1min = 0;
};

// `root` is "/", or a test tree.
Environment read_environment(const std::filesystem::path &root, unsigned cpu,
                             const nsp_machine &machine);

bool is_virtual(const Environment &environment);

// Time that the hypervisor took from this CPU, in seconds since boot; absent if not reported.
std::optional<double> read_steal_seconds(const std::filesystem::path &root, unsigned cpu);

// Whether a list such as "0,2-5" contains the number.
bool cpu_list_has(const std::string &list, unsigned cpu);
} // namespace calibrate
