// SPDX-License-Identifier: MIT
// Reports with figures of a test's choice.
#pragma once

#include <string>

#include "analyse/report.hpp"

namespace test_support
{
// A figure with packets: `net` of each slice, one slice a packet, 1000 of them.
inline nsdump::FieldReport field_of(const std::string &field, double net, double half95)
{
    nsdump::FieldReport out;
    out.field = field;
    out.unit = field == "ticks" ? "TSC cycles" : field;
    out.count = out.packets = 1000;
    nsdump::Distribution values;
    values.mean = values.trimmed_mean = net;
    values.min = net - half95;
    values.max = net + half95;
    values.p99 = net;
    out.raw = values;
    values.ci95 = values.trimmed_ci95 = half95;
    out.net = values;
    nsdump::PerPacket packet;
    packet.slices = 1;
    packet.net = packet.net_trimmed = net;
    packet.net_ci95 = packet.net_trimmed_ci95 = half95;
    out.per_packet = packet;
    return out;
}

inline nsdump::SliceReport slice_of(const std::string &name, double net_ticks, double half95,
                                    double instructions = 300, double instructions_half95 = 0)
{
    nsdump::SliceReport out;
    out.name = name;
    out.count = out.packets = 1000;
    out.values = {field_of("ticks", net_ticks, half95),
                  field_of("INSTRUCTIONS", instructions, instructions_half95)};
    return out;
}

// On a clock of 1 GHz, so that ticks are nanoseconds.
inline nsdump::StatsReport report_of(std::vector<nsdump::SliceReport> slices,
                                     const std::string &path = "made-up.nsl")
{
    nsdump::StatsReport out;
    out.path = path;
    out.info = {{"machine.cpu", "a CPU"}, {"machine.arch", "x86_64"}, {"machine.cpus", "2"}};
    out.clock.source = "tsc";
    out.clock.mode = "fast";
    out.clock.hz = 1e9;
    out.counter_source = "rdpmc";
    out.counter_names = {"INSTRUCTIONS"};
    out.losses.has_footer = true;
    nsdump::CalibrationRow pair;
    pair.inner = 20;
    pair.inner_ci95 = 0.5;
    pair.outer = 40;
    pair.outer_ci95 = 0.5;
    out.calibration_start = {pair};
    out.calibration_end = {pair};
    out.slices = std::move(slices);
    return out;
}
} // namespace test_support
