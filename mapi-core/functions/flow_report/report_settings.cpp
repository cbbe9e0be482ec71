// SPDX-License-Identifier: MIT
// Report settings: the lines of [ipfixflib] in mapi.conf -> numbers.
#include "functions/flow_report/report_settings.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "functions/flow_cache/flow_cache.hpp"
#include "functions/flow_report/report_flow.hpp"

namespace mapi::functions
{
namespace
{
constexpr const char *kOfMapi2 = "it controls threads, tables and logs that only MAPI 2 has";

// Keys of MAPI 2 without effect here, each with its largest number, or none.
struct Ignored {
    std::string_view key;
    uint32_t most; // 0: text
    const char *why;
};
constexpr Ignored kIgnored[] = {
    {"scanCycle", UINT32_MAX, kOfMapi2},
    {"statInterval", UINT32_MAX, kOfMapi2},
    {"cacheTimeout", UINT32_MAX, kOfMapi2},
    {"traceMode", UINT32_MAX, kOfMapi2},
    {"traceToFile", 0, kOfMapi2},
    {"enterpriseid", UINT32_MAX, "it numbers elements that only MAPI 2 has"},
};

uint32_t number(const std::string &key, const std::string &value, uint32_t least, uint32_t most)
{
    uint32_t result = 0;
    const char *const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, result);
    if (error != std::errc() || stop != end || result < least || result > most)
        throw std::runtime_error(key + "=" + value + ": must be a number from " +
                                 std::to_string(least) + " to " + std::to_string(most));
    return result;
}
} // namespace

const char *set_report_setting(ReportSettings &settings, const std::string &key,
                               const std::string &value)
{
    if (key == "observationDomain")
        settings.observation_domain = number(key, value, 0, UINT32_MAX);
    else if (key == "ingressInterface")
        settings.ingress_interface = number(key, value, 0, UINT16_MAX);
    else if (key == "egressInterface")
        settings.egress_interface = number(key, value, 0, UINT16_MAX);
    else if (key == "idleTimeout")
        settings.idle_seconds = number(key, value, 1, UINT16_MAX);
    else if (key == "lifetimeTimeout")
        settings.active_seconds = number(key, value, 1, UINT16_MAX);
    else if (key == "hashSize")
        settings.room = number(key, value, 16, ReportCache::kRoomMax);
    else if (key == "minFlowPkts")
        settings.least_packets = number(key, value, 0, UINT32_MAX);
    else if (const auto known = std::find_if(std::begin(kIgnored), std::end(kIgnored),
                                             [&](const Ignored &one) { return one.key == key; });
             known != std::end(kIgnored))
        return (known->most ? number(key, value, 0, known->most) : 0), known->why;
    else
        throw std::runtime_error(
            key + "=" + value +
            ": unknown key; available: observationDomain, ingressInterface, egressInterface, "
            "idleTimeout, lifetimeTimeout, hashSize, minFlowPkts");
    return nullptr;
}

ReportSettings read_report_settings(const std::string &lines)
{
    ReportSettings settings;
    std::istringstream input(lines);
    for (std::string line; std::getline(input, line);) {
        const size_t equals = line.find('=');
        try {
            set_report_setting(settings, line.substr(0, equals),
                               equals == std::string::npos ? "" : line.substr(equals + 1));
        } catch (const std::runtime_error &error) {
            throw std::runtime_error(std::string("[ipfixflib] ") + error.what());
        }
    }
    return settings;
}
} // namespace mapi::functions
