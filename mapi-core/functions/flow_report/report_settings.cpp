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
// They steer threads, tables and logs of MAPI 2 that are not here; enterpriseid is of elements that are not here.
constexpr std::string_view kOfMapi2[] = {"scanCycle", "statInterval", "traceMode", "traceToFile", "cacheTimeout", "enterpriseid"};

uint32_t number(const std::string &line, std::string_view text, uint32_t least, uint32_t most)
{
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
        throw std::runtime_error("[ipfixflib] " + line + ": not a number from " + std::to_string(least) + " to " + std::to_string(most));
    return value;
}

void set(ReportSettings &settings, const std::string &line)
{
    const size_t equals = line.find('=');
    const std::string_view key = std::string_view(line).substr(0, equals), value = std::string_view(line).substr(equals + 1);
    if (key == "observationDomain")
        settings.observation_domain = number(line, value, 0, UINT32_MAX);
    else if (key == "ingressInterface")
        settings.ingress_interface = number(line, value, 0, UINT16_MAX);
    else if (key == "egressInterface")
        settings.egress_interface = number(line, value, 0, UINT16_MAX);
    else if (key == "idleTimeout")
        settings.idle_seconds = number(line, value, 1, UINT16_MAX);
    else if (key == "lifetimeTimeout")
        settings.active_seconds = number(line, value, 1, UINT16_MAX);
    else if (key == "hashSize")
        settings.room = number(line, value, 16, ReportCache::kRoomMax);
    else if (key == "minFlowPkts")
        settings.least_packets = number(line, value, 0, UINT32_MAX);
    else if (std::find(std::begin(kOfMapi2), std::end(kOfMapi2), key) == std::end(kOfMapi2))
        throw std::runtime_error("[ipfixflib] " + line + ": there is no such key; observationDomain, ingressInterface, egressInterface, "
                                                         "idleTimeout, lifetimeTimeout, hashSize and minFlowPkts are");
}
} // namespace

ReportSettings read_report_settings(const std::string &lines)
{
    ReportSettings settings;
    std::istringstream input(lines);
    for (std::string line; std::getline(input, line);)
        set(settings, line);
    return settings;
}
} // namespace mapi::functions
