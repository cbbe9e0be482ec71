// SPDX-License-Identifier: MIT
// Report settings: the lines of [ipfixflib] in mapi.conf -> numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mapi::functions
{
// Keys and defaults are those of MAPI 2, except for hashSize.
struct ReportSettings {
    uint32_t observation_domain = 0;
    std::optional<uint32_t> ingress_interface; // otherwise the packet's
    uint32_t egress_interface = 0;             // 0: unknown
    uint32_t idle_seconds = 30;
    uint32_t active_seconds = 120;
    uint32_t room = 262144; // limit of active flows
    uint32_t least_packets = 0;
};

// Returns why the key has no effect here, or null if it has one.  Throws std::runtime_error with
// the reason.
const char *set_report_setting(ReportSettings &settings, const std::string &key,
                               const std::string &value);

// One "key=value" per line.  Throws std::runtime_error with the reason.
ReportSettings read_report_settings(const std::string &lines);
} // namespace mapi::functions
