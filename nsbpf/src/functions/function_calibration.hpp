// SPDX-License-Identifier: MIT
// Function calibration: functions of this library with uprobes -> what these cost, on this CPU.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace nsbpf
{
class ClockLine;
class FunctionLinks;
class MappedRing;

constexpr int kCalibratedFunctions = 3; // one for each NSLICE_WAY_UPROBE_*

// Functions whose first instructions are of each kind have uprobes until it is destroyed.
class FunctionCalibration
{
public:
    // Nothing may be attached by these links.
    explicit FunctionCalibration(FunctionLinks &links);
    ~FunctionCalibration();
    FunctionCalibration(const FunctionCalibration &) = delete;
    FunctionCalibration &operator=(const FunctionCalibration &) = delete;

    // On the CPU that it is called on.  Appends entries of the kernel's calibration.
    void measure(MappedRing &ring, uint32_t cpu, const ClockLine &clock,
                 std::string &entries) const;

private:
    FunctionLinks &links_;
    std::array<double, kCalibratedFunctions> bare_ticks_{};
    bool is_attached_ = false;
};
} // namespace nsbpf
